"""Pure: what a skill is. Text in, values out; nothing here touches a disk."""
