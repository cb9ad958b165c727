"""Telling a model which skills there are, and handing it one."""
