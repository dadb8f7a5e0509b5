"""The measurements: one interpreter for each case, which imports torch and the contenders."""
