package clusters

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/panics"
)

const (
	// requestTimeout ends a request other than a watch.
	requestTimeout = 20 * time.Second

	// patience is how long the first reader of a watch waits for it.
	patience = 5 * time.Second
)

type watchKey struct {
	resource  schema.GroupVersionResource
	namespace string
	// name of the only object that is followed. Empty follows all.
	name string
}

// narrowOptions restricts a list or a watch to the watched object, if the key names one.
func (k watchKey) narrowOptions(o metav1.ListOptions) metav1.ListOptions {
	if k.name != "" {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", k.name).String()
	}
	return o
}

// A watch follows one kind, or one object of it, in one namespace of one cluster.
type watch struct {
	pool *Pool
	link *link
	key  watchKey
	// account of who wrote the kubeconfig. Nil for the provider's own cluster.
	account *account.Account
	// storeAccount pays for the watched objects, also for objects of the provider's own cluster.
	storeAccount *account.Account

	// owners are the users with their interests. The Pool's lock guards it.
	owners map[types.NamespacedName]*interest

	mu      sync.Mutex
	current run
	stopped bool
	// exceeded is how many runs in a row ended because the cluster exceeded a bound.
	exceeded int
	// failure is why the cluster cannot be read. Nil if it can.
	failure *Error
	// failing is closed while there is a failure.
	failing chan struct{}

	// retry ends the wait before the next list. answered is closed once the cluster answered such a list, and nil if no reader requested one.
	retry    chan struct{}
	answered chan struct{}
}

// A run of a watch lasts until the watch is stopped, or the cluster exceeds a bound.
type run struct {
	store *store
	end   context.CancelFunc
	began time.Time
}

// A feed lists and watches as the reflector wants it.
type feed struct {
	*cache.ListWatch
}

// IsWatchListSemanticsUnSupported is always true: the error of a list is the most precise.
func (feed) IsWatchListSemanticsUnSupported() bool { return true }

func newWatch(p *Pool, l *link, key watchKey) *watch {
	w := &watch{
		pool: p, link: l, key: key, account: l.account, storeAccount: l.account,
		owners: map[types.NamespacedName]*interest{}, failing: make(chan struct{}), retry: make(chan struct{}, 1),
	}
	if l.account == nil {
		w.storeAccount = p.accounts.ForHome(key.namespace)
	}
	return w
}

func (w *watch) resourceClient() dynamic.ResourceInterface {
	return w.link.client.Resource(w.key.resource).Namespace(w.key.namespace)
}

// startRun starts a run, unless the watch was stopped.
func (w *watch) startRun() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	// Errors are in the status of the reading object. Messages of a cluster do not belong in the provider's log.
	ctx, cancel := context.WithCancel(logr.NewContext(context.Background(), logr.Discard()))
	r := run{end: cancel, began: w.pool.now()}
	r.store = newObjectStore(w.storeAccount, w.wakeReaders, func(err error) { w.endExceededRun(r, err) })
	w.current = r
	silent := logr.Discard()
	reflector := cache.NewReflectorWithOptions(w.newWatchFeed(r), &unstructured.Unstructured{}, r.store, cache.ReflectorOptions{Logger: &silent, Name: "cluster"})
	// The reflector's own loop logs messages of the cluster, and delays all reflectors of the process by that.
	go w.repeatUntilEnded(ctx, func() {
		// The feed has heard why it ended.
		_ = panics.Recover("watch a cluster", func() error { return reflector.ListAndWatchWithContext(ctx) })
	})
}

// repeatUntilEnded lists and watches again and again. It waits in between, longer each time, unless a reader asks for another try.
func (w *watch) repeatUntilEnded(ctx context.Context, listAndWatch func()) {
	delay := watchRetryDelay()
	for ctx.Err() == nil {
		listAndWatch()
		timer := time.NewTimer(delay())
		select {
		case <-timer.C:
		case <-w.retry:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// retryFailedWatch lets a cluster that cannot be read be asked now. Who reads then waits for the answer. A cluster that exceeded a bound is asked at
// the end of its penalty.
func (w *watch) retryFailedWatch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure == nil || w.stopped || w.current.store.isClosed() {
		return
	}
	if w.answered == nil {
		w.answered = make(chan struct{})
	}
	select {
	case w.retry <- struct{}{}:
	default: // The list is requested already.
	}
}

// watchRetryDelay is the delay before the next list after a watch ended, as the reflector has it.
func watchRetryDelay() wait.DelayFunc {
	return wait.Backoff{Duration: 800 * time.Millisecond, Cap: 30 * time.Second, Steps: 38, Factor: 2, Jitter: 1}.DelayWithReset(clock.RealClock{}, 2*time.Minute)
}

// newWatchFeed returns the feed of one run.
func (w *watch) newWatchFeed(r run) feed {
	return feed{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			ctx, cancel := context.WithTimeout(ctx, w.pool.timeout)
			defer cancel()
			list, err := w.listObjects(ctx, r.store)
			w.recordAnswer(ctx, err)
			w.endExceededRun(r, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (apiwatch.Interface, error) {
			e := &account.Expectation{Kind: account.EventsAnswer, Account: w.account, OnExceeded: func(err error) { w.endExceededRun(r, err) }}
			i, err := w.resourceClient().Watch(account.WithExpectation(ctx, e), w.key.narrowOptions(o))
			w.recordAnswer(ctx, cmp.Or(err, e.Unanswered()))
			return i, err //nolint:wrapcheck // It is classified above.
		},
	}}
}

// stopForGood stops the watch. It never runs again.
func (w *watch) stopForGood() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.current.end()
	w.current.store.closeStore()
}

// endExceededRun ends a run in which the cluster exceeded a bound, and begins another one later. Other errors are tried again by the run itself.
func (w *watch) endExceededRun(r run, err error) {
	var exceeded *account.AnswerError
	if !errors.As(err, &exceeded) || exceeded.Passing || r.store.isClosed() {
		return
	}
	w.setFailure(classifyError(err))
	r.end()
	if !r.store.closeStore() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pool.now().Sub(r.began) > 2*maxPenalty {
		w.exceeded = 0
	}
	w.exceeded++
	w.pool.after(penaltyAfter(w.exceeded), w.startRun)
}

// stripUnreadFields removes fields that are never read, and that can be large.
func stripUnreadFields(u *unstructured.Unstructured) {
	u.SetManagedFields(nil)
	for _, fields := range unreadFields() {
		unstructured.RemoveNestedField(u.Object, fields...)
	}
	stripLargeFields(u)
}

// unreadFields are never read, and can be large.
func unreadFields() [][]string {
	return [][]string{
		{"status", "history"},
		{"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"},
	}
}

// stripLargeFields drops large fields of some kinds: schemas of definitions, the module and variables of Workspaces, and pod templates of
// Deployments and ReplicaSets but for their images.
func stripLargeFields(u *unstructured.Unstructured) {
	switch u.GetKind() {
	case "CustomResourceDefinition":
		stripSchemas(u)
	case "Workspace":
		unstructured.RemoveNestedField(u.Object, "spec", "forProvider")
	case "Deployment", "ReplicaSet":
		stripPodTemplate(u)
	}
}

// stripPodTemplate drops the template of the pods, but for names and images of its containers.
func stripPodTemplate(u *unstructured.Unstructured) {
	all, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "template", "spec", "containers")
	unstructured.RemoveNestedField(u.Object, "spec", "template")
	list, _ := all.([]any)
	var retained []any
	for _, c := range list {
		container, _ := c.(map[string]any)
		name, _ := container["name"].(string)
		image, _ := container["image"].(string)
		retained = append(retained, map[string]any{"name": name, "image": image})
	}
	if len(retained) > 0 {
		// The value of spec may have any type: then the pods stay away.
		_ = unstructured.SetNestedSlice(u.Object, retained, "spec", "template", "spec", "containers")
	}
}

// stripSchemas drops the schemas of a CustomResourceDefinition, which are most of it.
func stripSchemas(definition *unstructured.Unstructured) {
	versions, _, _ := unstructured.NestedFieldNoCopy(definition.Object, "spec", "versions")
	list, _ := versions.([]any)
	for _, v := range list {
		version, _ := v.(map[string]any)
		delete(version, "schema")
	}
}

// recordAnswer records whether the cluster answered.
func (w *watch) recordAnswer(ctx context.Context, err error) {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return // It was we who hung up.
	}
	failure := w.link.classifyError(err)
	if failure != nil && failure.passing {
		return
	}
	w.setFailure(failure)
}

// setFailure sets why the cluster cannot be read, or that it can. It wakes all readers if that is new.
func (w *watch) setFailure(failure *Error) {
	w.mu.Lock()
	news := failure.reasonOrNone() != w.failure.reasonOrNone()
	switch {
	case failure != nil && w.failure == nil:
		close(w.failing)
	case failure == nil && w.failure != nil:
		w.failing = make(chan struct{})
	}
	w.failure = failure
	if w.answered != nil {
		close(w.answered)
		w.answered = nil
	}
	w.mu.Unlock()
	if news {
		w.wakeReaders(nil, nil)
	}
}

// failureSignal returns a channel that is closed while the cluster cannot be read, and why.
func (w *watch) failureSignal() (<-chan struct{}, *Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failing, w.failure
}

// waitUntilSettled waits until the list is read, or has failed. A cluster that is known not to answer is not waited for.
func (w *watch) waitUntilSettled(ctx context.Context) (*store, error) {
	ctx, cancel := context.WithTimeout(ctx, w.pool.patience)
	defer cancel()
	w.waitForRetry(ctx)
	trouble, _ := w.failureSignal()
	s := w.currentStore()
	select {
	case <-s.synced:
	case <-trouble:
	case <-ctx.Done():
	}
	if _, f := w.failureSignal(); f != nil {
		return nil, f
	}
	if !s.isSynced() {
		return nil, unansweredError()
	}
	return s, nil
}

// waitForRetry waits until the cluster answered the repeated request of a reader.
func (w *watch) waitForRetry(ctx context.Context) {
	w.mu.Lock()
	answered := w.answered
	w.mu.Unlock()
	if answered == nil {
		return
	}
	select {
	case <-answered:
	case <-ctx.Done():
	}
}

func (w *watch) currentStore() *store {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current.store
}

// An interest is the part of a watch that one owner reads: objects by their names, and objects that match.
type interest struct {
	names   map[string]bool
	matches []func(*unstructured.Unstructured) bool
}

// recordInterest records an object by its name, or the objects that match.
func (i *interest) recordInterest(name string, match func(*unstructured.Unstructured) bool) {
	if match != nil {
		i.matches = append(i.matches, match)
		return
	}
	i.names[name] = true
}

// includesObject reports whether an object is read. It may be nil.
func (i *interest) includesObject(u *unstructured.Unstructured) bool {
	if u == nil {
		return false
	}
	return i.names[u.GetName()] || slices.ContainsFunc(i.matches, func(match func(*unstructured.Unstructured) bool) bool { return match(u) })
}

// wakeReaders wakes the owners that read an object as it was before or is after a change, or all of them if there is neither.
func (w *watch) wakeReaders(previous, current *unstructured.Unstructured) {
	w.pool.mu.Lock()
	owners := make([]types.NamespacedName, 0, len(w.owners))
	for owner, reads := range w.owners {
		if previous == nil && current == nil || reads.includesObject(previous) || reads.includesObject(current) {
			owners = append(owners, owner)
		}
	}
	w.pool.mu.Unlock()
	wake := w.pool.wakeOwnerSoon
	if w.account == nil { // The provider's own cluster is trusted, and each change of it is seen.
		wake = w.pool.wake
	}
	for _, owner := range owners {
		wake(owner)
	}
}
