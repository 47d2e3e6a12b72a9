// This module pins Traefik, through which tests send requests, and the kinds of Gateway API.
module github.com/intentplane/intentplane/tools/traefik

go 1.26.0

replace github.com/abbot/go-http-auth => github.com/containous/go-http-auth v0.4.1-0.20200324110947-a37a7636d23e

replace github.com/gorilla/mux => github.com/containous/mux v0.0.0-20250523120546-41b6ec3aed59

require (
	github.com/traefik/traefik/v3 v3.6.12
	sigs.k8s.io/gateway-api v1.4.0
)
