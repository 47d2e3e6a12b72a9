package imagebuild

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A hookNote records the webhooks of an ImageBuild.
type hookNote struct {
	// recorded is the annotation that was seen last.
	recorded string
	// since is when it was seen first, until a look has answered it.
	since time.Time
}

// hookNotes are the looks that webhooks ask for. They are safe for concurrent use. A replica records a webhook by one write, the annotation,
// and Crossplane reconciles the composite after each write: the status does not repeat the webhook of a look in a second write. A leader that
// starts takes the annotation for a new webhook, and looks once more at most.
type hookNotes struct {
	mu  sync.Mutex
	all map[types.NamespacedName]hookNote
}

func newHookNotes() *hookNotes { return &hookNotes{all: map[types.NamespacedName]hookNote{}} }

// pendingHookSince returns since when a webhook asks for a look that was not done, or zero. The leader's clock counts, and not the clock of the
// replica that recorded it.
func (h *hookNotes) pendingHookSince(key types.NamespacedName, recorded string, now time.Time) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := h.all[key]; recorded != "" && recorded != n.recorded {
		h.all[key] = hookNote{recorded: recorded, since: now}
	}
	return h.all[key].since
}

// dropAnsweredHooks drops the webhooks that are answered by a look which began at a time.
func (h *hookNotes) dropAnsweredHooks(key types.NamespacedName, began time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n, ok := h.all[key]; ok && !began.Before(n.since) {
		h.all[key] = hookNote{recorded: n.recorded}
	}
}

func (h *hookNotes) forgetHookNote(key types.NamespacedName) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, key)
}

// forgetBuild drops the notes of a deleted ImageBuild.
func (c *connector) forgetBuild(key types.NamespacedName) {
	c.memory.ForgetNote(key)
	c.hooks.forgetHookNote(key)
	c.sources.Forget(key)
}
