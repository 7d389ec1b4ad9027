#!/bin/sh
kubectl get crd
