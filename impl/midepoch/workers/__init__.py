"""Workers run tasks inline, in threads or in processes; they know no position."""
