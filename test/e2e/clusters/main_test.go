// Package clusters shows, on a real control plane with the real controllers of Cluster API beside it, what a ManagedCluster does.
package clusters

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/intentplane/intentplane/test/clusterapi"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// audit notes who writes objects of Cluster API.
const audit = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    verbs: [create, update, patch, delete, deletecollection]
    resources:
      - group: cluster.x-k8s.io
      - group: infrastructure.cluster.x-k8s.io
      - group: controlplane.cluster.x-k8s.io
      - group: bootstrap.cluster.x-k8s.io
  - level: None
`

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(scene.Main(m, &cp, func(o *controlplane.Options) { o.Audit = []byte(audit) }))
}

// capi is the one Cluster API.
var capi = sync.OnceValue(func() error { return clusterapi.Start(context.Background(), cp) })
