"""The gateway: what brings its service and its machine back, and says when neither helps."""
