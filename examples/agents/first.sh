#!/bin/sh
# An agent in a shell script: it chooses the first legal action. It needs no more than sh and sed.
#
#   cohabit match nim "command:sh examples/agents/first.sh" random --games 20
#
# Each line of the standard input is a decision to make, as JSON. The legal actions are in "choices", and
# each of them is an answer as it is: {"action":"take","params":{"n":1}}
while IFS= read -r line; do
    choice=$(printf '%s\n' "$line" | sed -n 's/.*"choices":\[\({"action":"[^"]*","params":{[^{}]*}}\).*/\1/p')
    printf '%s\n' "${choice:-null}"
done
