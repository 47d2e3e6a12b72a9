package kubernetes

import (
	"context"
	_ "embed" // For Traefik's RBAC.
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/process"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

const (
	// GatewayNamespace is the namespace of a cluster's Gateway.
	GatewayNamespace = "gateways"

	// GatewayName is the name of that Gateway, which takes routes of each namespace.
	GatewayName = "web"

	// traefik is the name of the program, of its service account and of its log.
	traefik = "traefik"
)

//go:embed manifests/gateway.yaml
var gatewayRBAC []byte

const gatewayObjects = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: traefik}
spec: {controllerName: traefik.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: %s, namespace: %s}
spec:
  gatewayClassName: traefik
  listeners: [{name: web, protocol: HTTP, port: %d, allowedRoutes: {namespaces: {from: All}}}]
`

// A Gateway is a real implementation of Gateway API that serves the routes of a cluster: Traefik, with its own defaults.
type Gateway struct {
	// URL is its address for requests, and Port the port in it, which listeners have to name. Routes name the Gateway called GatewayName.
	URL  string
	Port int

	// MetricsURL is the address of its metrics for Prometheus.
	MetricsURL string

	k     *Cluster
	start process.Command
	ready string
	p     *process.Process
}

// StartGateway installs the kinds of Gateway API in the cluster, and starts a Gateway with an account of its own, which ends with the
// cluster. It returns an error if its programs were not built, or it does not get ready.
func (k *Cluster) StartGateway(ctx context.Context) (*Gateway, error) {
	tool, err := toolbox.Built(ctx, "TRAEFIK", "GATEWAY_API_CRDS")
	if err != nil {
		return nil, err
	}
	if err := k.Apply(ctx, tool["GATEWAY_API_CRDS"]); err != nil {
		return nil, err
	}
	if err := k.WaitForDefinitions(ctx); err != nil {
		return nil, err
	}
	free, err := port.Free(2)
	if err != nil {
		return nil, err
	}
	if err := k.ApplyYAML(ctx, gatewayRBAC); err != nil {
		return nil, err
	}
	if err := k.ApplyYAML(ctx, fmt.Appendf(nil, gatewayObjects, GatewayName, GatewayNamespace, free[0])); err != nil {
		return nil, err
	}
	start, err := k.traefikCommand(ctx, tool["TRAEFIK"], free[0], free[1])
	if err != nil {
		return nil, err
	}
	metricsAddress := "http://" + port.Address(free[1])
	g := &Gateway{
		URL: "http://" + port.Address(free[0]), Port: free[0], MetricsURL: metricsAddress + "/metrics",
		k: k, start: start, ready: metricsAddress + "/ping",
	}
	return g, g.Start(ctx)
}

// traefikCommand runs Traefik with flags for paths and addresses, and with its default timings.
func (k *Cluster) traefikCommand(ctx context.Context, path string, web, ping int) (process.Command, error) {
	kubeconfig, err := k.Account(ctx, GatewayNamespace, traefik)
	if err != nil {
		return process.Command{}, err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return process.Command{}, errors.Wrap(err, "cannot read kubeconfig")
	}
	ca := filepath.Join(k.Dir, "traefik-ca.crt")
	if err := os.WriteFile(ca, cfg.CAData, 0o600); err != nil {
		return process.Command{}, errors.Wrap(err, "cannot write certificate of API server")
	}
	return process.Command{Name: traefik, Path: path, Args: []string{
		"--global.checknewversion=false", "--global.sendanonymoususage=false", "--log.level=INFO",
		"--entrypoints.web.address=" + port.Address(web),
		"--entrypoints.ping.address=" + port.Address(ping), "--ping.entrypoint=ping",
		"--metrics.prometheus.entrypoint=ping",
		"--providers.kubernetesgateway.endpoint=" + cfg.Host,
		"--providers.kubernetesgateway.token=" + cfg.BearerToken,
		"--providers.kubernetesgateway.certauthfilepath=" + ca,
	}}, nil
}

// Start the gateway again after Stop. It returns an error if it does not get ready.
func (g *Gateway) Start(ctx context.Context) error {
	var err error
	if g.p, err = g.k.Runner.Start(g.start); err != nil {
		return err
	}
	err = g.p.AwaitURL(ctx, http.DefaultClient, g.ready)
	return errors.Wrap(err, "cannot see traefik ready")
}

// Stop the gateway, as kill -9 does.
func (g *Gateway) Stop() { g.p.Kill() }

// LastLog returns the last lines of the gateway's log.
func (g *Gateway) LastLog() string { return g.p.LastLog() }
