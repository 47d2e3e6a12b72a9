package gate

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A memory is what Gates were last seen to say, so that a verdict outlives its status. A restart loses it.
type memory struct {
	mu    sync.Mutex
	notes map[types.NamespacedName]note
}

type note struct {
	uid  types.UID
	said v1alpha1.GateObservation
	// open is true while there is no verdict.
	open bool
}

func newMemory() *memory { return &memory{notes: map[types.NamespacedName]note{}} }

func (m *memory) keep(g *v1alpha1.Gate, said v1alpha1.GateObservation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes[client.ObjectKeyFromObject(g)] = note{uid: g.GetUID(), said: *said.DeepCopy(), open: said.Verdict == ""}
}

func (m *memory) of(g *v1alpha1.Gate) v1alpha1.GateObservation {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.notes[client.ObjectKeyFromObject(g)]; n.uid == g.GetUID() {
		return n.said
	}
	return v1alpha1.GateObservation{}
}

// open is true for a Gate without a verdict.
func (m *memory) open(key types.NamespacedName) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notes[key].open
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, key)
}
