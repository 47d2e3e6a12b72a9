package sites

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

const rootSync = `
apiVersion: configsync.gke.io/v1beta1
kind: RootSync
metadata: {name: root-sync, namespace: NAMESPACE}
spec: {sourceFormat: unstructured, git: {repo: "URL", branch: main, dir: clusters/edge1, auth: none}}
---
apiVersion: kpt.dev/v1alpha1
kind: ResourceGroup
metadata: {name: root-sync, namespace: NAMESPACE}
spec: {resources: [{group: "", kind: ConfigMap, namespace: NAMESPACE, name: a}]}
`

// synced is what Config Sync writes when all its stages are at a commit.
const synced = `{"status":{"observedGeneration":1,"lastSyncedCommit":"COMMIT","conditions":[
	{"type":"Reconciling","status":"False"},{"type":"Stalled","status":"False"},{"type":"Syncing","status":"False","commit":"COMMIT"}],
	"source":{"commit":"COMMIT","errorSummary":{"totalCount":0}},"rendering":{"commit":"COMMIT"},"sync":{"commit":"COMMIT","errorSummary":{"totalCount":0}}}}`

// The Site is the control plane's own cluster. Config Sync is not there at first, and its controllers never are: the test writes
// what they do.
func TestConfigSync(t *testing.T) {
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp), path: "clusters/edge1"}
	site := s.Set(s.NewSite("edge1"), map[string]any{"type": "ConfigSync", "objectRef": map[string]any{
		"apiVersion": "configsync.gke.io/v1beta1", "kind": "RootSync", "namespace": s.Namespace, "name": "root-sync",
	}}, "spec", "engine")
	s.Apply(site)
	y := s.sync(1, "one")
	s.Apply(y)
	s.deliver(1, "one")
	s.expect(y, "1 | False | Syncing | Syncing | EngineNotInstalled")
	s.must(s.ControlPlane.Apply(t.Context(), "manifests/configsync.yaml"))
	s.expect(y, "1 | False | Syncing | Syncing | EngineObjectMissing")

	objects := strings.NewReplacer("NAMESPACE", s.Namespace, "URL", s.Git.URL(s.Namespace)).Replace(rootSync)
	s.Until("the kinds are served", scene.Patience, func() bool { return s.ApplyYAML(t.Context(), []byte(objects)) == nil })
	s.expect(y, "1 | False | Syncing | Syncing | Progressing")
	root, group := s.inNamespace("configsync.gke.io/v1beta1", "RootSync"), s.inNamespace("kpt.dev/v1alpha1", "ResourceGroup")
	s.Patch(root, strings.ReplaceAll(synced, "COMMIT", s.Commits()[0].ID), "status")
	s.Patch(group, groupStatus("InProgress"), "status")
	s.expect(y, "1 | False | Syncing | Syncing | Progressing")
	s.Patch(group, groupStatus("Current"), "status")
	s.expect(y, "1"+isLive)
	s.Patch(group, groupStatus("Failed"), "status")
	s.expect(y, "1 | False | Syncing | Syncing | Unhealthy")
}

func groupStatus(status string) string {
	return fmt.Sprintf(`{"status":{"observedGeneration":1,"resourceStatuses":[{"kind":"ConfigMap","name":"a","status":%q}]}}`, status)
}

func (s *stage) inNamespace(apiVersion, kind string) *unstructured.Unstructured {
	o := named(apiVersion, kind, "root-sync")
	o.SetNamespace(s.Namespace)
	return o
}
