#!/usr/bin/env bash
helm pull oci://charts.example.org/storage/longhorn --version 1.9.0 --untar --untardir .cache
flux install
