"""Merging two versions of a protocol file by its entries. Nothing here touches a disk."""
