package canary

import (
	"strings"

	"github.com/intentplane/intentplane/apis/tree"
)

// refusing is a Gateway that takes no routes of other namespaces.
const refusing = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: refusing, namespace: gateways}
spec:
  gatewayClassName: traefik
  listeners: [{name: web, protocol: HTTP, port: %d, allowedRoutes: {namespaces: {from: Same}}}]
`

func withRouteEdited(old, replacement string) func(*shop, tree.Files) {
	return func(s *shop, files tree.Files) {
		s.Helper()
		const name = "shared/httproute-web.yaml"
		if !strings.Contains(string(files[name]), old) {
			s.Fatalf("%s does not have %q:\n%s", name, old, files[name])
		}
		files[name] = []byte(strings.Replace(string(files[name]), old, replacement, 1))
	}
}
