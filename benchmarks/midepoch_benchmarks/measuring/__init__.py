"""What runs in an interpreter of its own, one a case: it imports torch and the contenders."""
