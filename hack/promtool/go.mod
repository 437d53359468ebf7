module github.com/crossplane-contrib/provider-terraform/hack/promtool

go 1.26.7

require github.com/prometheus/prometheus v0.316.0
