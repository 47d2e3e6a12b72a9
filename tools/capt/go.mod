// This module pins the kinds of the Cluster API and of the Terraform provider that CAPT works with.
module github.com/intentplane/intentplane/tools/capt

go 1.26.0

require (
	github.com/upbound/provider-terraform v0.18.0
	sigs.k8s.io/cluster-api v1.10.7
)
