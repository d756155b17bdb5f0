"""Checks for authors: import `check_world` from `checker`, `check_agent` from `agent_checker`, `check_feature` from
`feature_checker`, `check_face` from `faces`, `check_store` from `store`; a fake clock is in `clock`."""
