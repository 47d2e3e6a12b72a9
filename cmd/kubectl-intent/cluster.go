package main

import (
	"time"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
)

// clusterFlags say which cluster. They are called as kubectl's are.
type clusterFlags struct {
	Kubeconfig     string        `help:"Kubeconfig of the cluster."                                  predictor:"file"`
	Context        string        `help:"Context of the kubeconfig."`
	Namespace      string        `help:"Namespace of deployments that name none."                   short:"n"`
	As             string        `help:"User to act as in the cluster."`
	AsGroup        []string      `help:"Groups to act as in the cluster."                           sep:"none"`
	RequestTimeout time.Duration `default:"30s"                                                     help:"How long one request to the cluster may take."`
}

func (f clusterFlags) openCluster() (*cluster.Cluster, error) {
	return cluster.Open(f.clusterOptions())
}

func (f clusterFlags) clusterOptions() cluster.Options {
	return cluster.Options{
		Kubeconfig: f.Kubeconfig, Context: f.Context, Namespace: f.Namespace, As: f.As, AsGroup: f.AsGroup, Timeout: f.RequestTimeout,
	}
}
