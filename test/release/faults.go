package release

import (
	"net/http"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/track"
)

// Faults say which requests the pods of a track fail. They are safe for concurrent use.
type Faults struct {
	mu    sync.Mutex
	every map[string]int
	asked map[string]int
}

// FailEvery makes each nth request to a track of a namespace fail, or none if n is 0.
func (f *Faults) FailEvery(n int, namespace, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.every[namespace+"/"+name] = n
}

// handlerForPod returns the handler of a pod's answers.
func (f *Faults) handlerForPod(p *corev1.Pod) http.Handler {
	key := p.GetNamespace() + "/" + p.GetLabels()[track.LabelTrack]
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if f.isNextFailing(key) {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
}

func (f *Faults) isNextFailing(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[key]++
	n := f.every[key]
	return n > 0 && f.asked[key]%n == 0
}
