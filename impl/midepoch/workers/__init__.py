"""Where lanes run: here, or in processes."""
