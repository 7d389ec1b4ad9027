#!/usr/bin/env bash
helm show crds longhorn/longhorn | kubectl apply -f -
