package rolloutrequest

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A deploymentKey names the deployment that requests are about.
type deploymentKey struct{ namespace, group, name string }

func deploymentOf(rr *rolloutv1alpha1.RolloutRequest) deploymentKey {
	return deploymentKey{namespace: rr.GetNamespace(), group: rr.Spec.DeploymentRef.APIGroup, name: rr.Spec.DeploymentRef.Name}
}

// A waitingRequest is the last observed state of a request that may take effect.
type waitingRequest struct {
	deployment deploymentKey
	// turn has the fields of the request that decide its turn, and its UID.
	turn rolloutv1alpha1.RolloutRequest
	// isMarked is true for a request with the labels of an open one, and isUnmarked for a request with none of them.
	isMarked, isUnmarked bool
}

func newWaitingRequest(rr *rolloutv1alpha1.RolloutRequest) *waitingRequest {
	out := &waitingRequest{deployment: deploymentOf(rr), isMarked: hasStateLabels(rr, true), isUnmarked: hasStateLabels(rr, false)}
	out.turn.Namespace, out.turn.Name, out.turn.UID = rr.GetNamespace(), rr.GetName(), rr.GetUID()
	out.turn.CreationTimestamp, out.turn.Spec.Action = rr.CreationTimestamp, rr.Spec.Action
	return out
}

func compareWaiting(a, b *waitingRequest) int { return rolloutv1alpha1.CompareTurn(a.turn, b.turn) }

// A turnQueue keeps the requests of each deployment that may take effect, in the order of their turns. The cache of the manager has no order: without the
// queue, each event about a request would read all requests of its deployment, and a tenant may create any number of them.
type turnQueue struct {
	mu sync.Mutex
	// waiting has the sorted requests of the deployments that have any. The requests of a deployment without an entry are listed at its next event.
	waiting map[deploymentKey][]*waitingRequest
	// requests in the queue by their names.
	requests map[types.NamespacedName]*waitingRequest
}

func newTurnQueue() *turnQueue {
	return &turnQueue{waiting: map[deploymentKey][]*waitingRequest{}, requests: map[types.NamespacedName]*waitingRequest{}}
}

// A lister lists the requests of a deployment that may take effect.
type lister func() ([]rolloutv1alpha1.RolloutRequest, error)

// observeRequest puts a request into its place in the queue, and reports whether it is open. It returns an error if the requests of the deployment cannot be listed.
func (q *turnQueue) observeRequest(rr *rolloutv1alpha1.RolloutRequest, list lister) (isOpen bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := deploymentOf(rr)
	if err := q.loadRequests(key, list); err != nil {
		return false, err
	}
	q.removeRequest(client.ObjectKeyFromObject(rr))
	if !rr.MayTakeEffect() {
		return false, nil
	}
	next := newWaitingRequest(rr)
	index, _ := slices.BinarySearchFunc(q.waiting[key], next, compareWaiting)
	q.waiting[key] = slices.Insert(q.waiting[key], index, next)
	q.requests[client.ObjectKeyFromObject(rr)] = next
	return index < rolloutv1alpha1.MaxOpen, nil
}

// forgetRequest drops a deleted request, and returns its deployment. It returns false for a request that is not in the queue.
func (q *turnQueue) forgetRequest(request types.NamespacedName) (deploymentKey, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.requests[request]
	if w == nil {
		return deploymentKey{}, false
	}
	q.removeRequest(request)
	return w.deployment, true
}

// openRequests returns the names of the open requests of a deployment, in the order of their turns. It returns an error if its requests cannot be listed.
func (q *turnQueue) openRequests(key deploymentKey, list lister) ([]types.NamespacedName, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.loadRequests(key, list); err != nil {
		return nil, err
	}
	out := []types.NamespacedName{}
	for _, w := range q.firstWaiting(key, rolloutv1alpha1.MaxOpen) {
		out = append(out, client.ObjectKeyFromObject(&w.turn))
	}
	return out, nil
}

// A misplacedRequest has labels that differ from its turn.
type misplacedRequest struct {
	name   types.NamespacedName
	uid    types.UID
	isOpen bool
}

// findMisplaced returns the requests of a deployment whose labels differ from their turns. It looks at the open ones, and at as many behind them: an event moves
// one request, and a request whose labels a user wrote has an event of its own.
func (q *turnQueue) findMisplaced(key deploymentKey) []misplacedRequest {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []misplacedRequest
	for i, w := range q.firstWaiting(key, 2*rolloutv1alpha1.MaxOpen) {
		isOpen := i < rolloutv1alpha1.MaxOpen
		if isOpen && !w.isMarked || !isOpen && !w.isUnmarked {
			out = append(out, misplacedRequest{name: client.ObjectKeyFromObject(&w.turn), uid: w.turn.GetUID(), isOpen: isOpen})
		}
	}
	return out
}

// recordMarks records the labels that a request was given.
func (q *turnQueue) recordMarks(request types.NamespacedName, isOpen bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.requests[request]; w != nil {
		w.isMarked, w.isUnmarked = isOpen, !isOpen
	}
}

// firstWaiting returns the first requests of a deployment. The lock is held.
func (q *turnQueue) firstWaiting(key deploymentKey, limit int) []*waitingRequest {
	all := q.waiting[key]
	return all[:min(len(all), limit)]
}

// loadRequests lists the requests of a deployment that has none in the queue. The lock is held.
func (q *turnQueue) loadRequests(key deploymentKey, list lister) error {
	if len(q.waiting[key]) > 0 {
		return nil
	}
	all, err := list()
	if err != nil {
		return err
	}
	for i := range all {
		q.removeRequest(client.ObjectKeyFromObject(&all[i])) // A request of that name that was deleted was about another deployment.
		next := newWaitingRequest(&all[i])
		q.waiting[key], q.requests[client.ObjectKeyFromObject(&all[i])] = append(q.waiting[key], next), next
	}
	slices.SortFunc(q.waiting[key], compareWaiting)
	return nil
}

// removeRequest drops a request from the queue. The lock is held.
func (q *turnQueue) removeRequest(request types.NamespacedName) {
	w := q.requests[request]
	if w == nil {
		return
	}
	delete(q.requests, request)
	key := w.deployment
	if index, isFound := slices.BinarySearchFunc(q.waiting[key], w, compareWaiting); isFound {
		q.waiting[key] = slices.Delete(q.waiting[key], index, index+1)
	}
	if len(q.waiting[key]) == 0 {
		delete(q.waiting, key)
	}
}
