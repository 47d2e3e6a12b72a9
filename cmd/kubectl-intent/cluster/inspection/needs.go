package inspection

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/diagnosis"
)

// readSiteNeeds reads the needs of Sites that no deployment uses, each object once. Of a Secret only the names of its keys are kept.
func (i Inspector) readSiteNeeds(ctx context.Context, f *diagnosis.Facts) {
	f.Needs = map[diagnosis.Need]diagnosis.NeedAnswer{}
	requested, mu := map[diagnosis.Need]bool{}, sync.Mutex{}
	var tasks []server.Task
	for _, s := range f.UnusedSites() {
		for _, n := range s.Needs() {
			if requested[n] {
				continue
			}
			requested[n] = true
			tasks = append(tasks, func(ctx context.Context) {
				a := i.readSiteNeed(ctx, n)
				mu.Lock()
				defer mu.Unlock()
				f.Needs[n] = a
			})
		}
	}
	server.RunTasks(ctx, tasks...)
}

// readSiteNeed reads one object.
func (i Inspector) readSiteNeed(ctx context.Context, n diagnosis.Need) diagnosis.NeedAnswer {
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(n.APIVersion, n.Kind))
	o, err := i.Get(ctx, resource, n.Namespace, n.Name)
	switch {
	case err == nil:
		return diagnosis.NeedAnswer{IsFound: n.Key == "" || hasSecretKey(o, n.Key)}
	case server.IsNotFound(err), server.IsUnknownKind(err):
		return diagnosis.NeedAnswer{}
	}
	unread := describeUnread(err, resource)
	return diagnosis.NeedAnswer{Unread: &unread}
}

// hasSecretKey reports whether a Secret has a key.
func hasSecretKey(o *unstructured.Unstructured, key string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(o.Object, "data", key)
	return found && err == nil
}
