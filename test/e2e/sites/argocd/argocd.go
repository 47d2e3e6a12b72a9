// Package argocd simulates Argo CD's controller for Applications on a real API server.
package argocd

import (
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/scene"
)

// refresh is the annotation that requests a comparison of an Application. The controller removes it.
const refresh = "argocd.argoproj.io/refresh"

// Install makes the control plane serve Applications, as Argo CD's own release describes them.
func Install(s *scene.Scene) {
	s.T.Helper()
	crds, err := toolbox.Path(s.T.Context(), "ARGOCD_CRDS")
	s.Must(err)
	s.Must(s.ControlPlane.Apply(s.T.Context(), filepath.Join(crds, "application-crd.yaml")))
}

// AwaitRefresh waits for the refresh annotation of an Application.
func AwaitRefresh(s *scene.Scene, app *unstructured.Unstructured) {
	s.T.Helper()
	s.Await(app, "asked to refresh", func(u *unstructured.Unstructured) bool { return u.GetAnnotations()[refresh] == "normal" })
}

// Refresh waits for the refresh annotation of an Application, and removes it, as the controller does after a refresh.
func Refresh(s *scene.Scene, app *unstructured.Unstructured) {
	s.T.Helper()
	AwaitRefresh(s, app)
	s.Patch(app, `{"metadata":{"annotations":{"`+refresh+`":null}}}`)
}

// A Controller syncs an Application with a directory of a repository.
type Controller struct {
	*scene.Scene

	Repository, Directory string
}

// Start simulates the controller of an Application until it is stopped: after a refresh annotation it reads the repository, syncs, and removes the annotation.
func (c Controller) Start(app *unstructured.Unstructured) (stop func()) {
	c.T.Helper()
	ctx, cancel := context.WithCancel(c.T.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = wait.PollUntilContextCancel(ctx, time.Second/10, true, func(ctx context.Context) (bool, error) {
			now := app.DeepCopy()
			if err := c.Client.Get(ctx, client.ObjectKeyFromObject(app), now); err != nil || now.GetAnnotations()[refresh] == "" {
				return false, nil //nolint:nilerr // It looks again.
			}
			log, err := c.Git.Log(ctx, c.Repository, "main")
			if err != nil {
				return false, nil //nolint:nilerr // It looks again.
			}
			resources, err := c.syncedResources(ctx)
			if err != nil {
				return false, nil //nolint:nilerr // It looks again.
			}
			b, err := json.Marshal(syncedApplication(now, log[0].ID, resources))
			if err != nil {
				return false, err
			}
			_ = c.Client.Patch(ctx, now, client.RawPatch(types.MergePatchType, b))
			return false, nil
		})
	}()
	return func() { cancel(); <-done }
}

// syncedResources returns the resources that Argo CD lists after it applied the files of the directory.
func (c Controller) syncedResources(ctx context.Context) ([]any, error) {
	files, err := c.Git.Files(ctx, c.Repository, "main")
	resources := []any{}
	for name, content := range files {
		if !strings.HasPrefix(name, c.Directory) {
			continue
		}
		for _, m := range instruction.Read(path.Base(name), []byte(content)) {
			o := m.Object
			resources = append(resources, map[string]any{"group": o.Group, "kind": o.Kind, "namespace": o.Namespace, "name": o.Name, "status": "Synced"})
		}
	}
	return resources, err
}

// syncedApplication returns the changes that Argo CD writes after it compared and applied a commit.
func syncedApplication(app *unstructured.Unstructured, commit string, resources []any) map[string]any {
	spec, _ := app.Object["spec"].(map[string]any)
	return map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{refresh: nil}},
		"status": map[string]any{
			"sync":      map[string]any{"status": "Synced", "revision": commit, "comparedTo": map[string]any{"source": spec["source"], "destination": spec["destination"]}},
			"health":    map[string]any{"status": "Healthy"},
			"resources": resources,
			"operationState": map[string]any{
				"phase": "Succeeded", "startedAt": "2026-11-01T11:59:00Z", "operation": map[string]any{"sync": map[string]any{"revision": commit}},
				"syncResult": map[string]any{"revision": commit, "source": spec["source"]},
			},
		},
	}
}
