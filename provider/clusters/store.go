package clusters

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/clusters/account"
)

// A store has the objects of one watch, as the reflector of client-go keeps them. It holds no more than its quota.
type store struct {
	// quota of watched objects and of the list that is under way. The account owns it, so that many watches of one tenant share it.
	quota *account.Quota
	// onChange is called with the previous and the next version of an object that was added, changed or deleted: nil for a missing version.
	// onExceeded is called when the quota has no memory left for an object.
	onChange   func(previous, next *unstructured.Unstructured)
	onExceeded func(error)

	synced chan struct{}
	once   sync.Once

	mu      sync.Mutex
	objects map[string]storedObject
	// listed is how much memory the list that is under way has reserved.
	listed int64
	closed bool
	// outdated is true while the list that is under way needs the memory of the objects that it replaces, which no reader gets meanwhile.
	outdated bool
}

type storedObject struct {
	*unstructured.Unstructured

	size int64
}

// newObjectStore returns a store at the cost of an account. A store without an account has no bound.
func newObjectStore(a *account.Account, onChange func(previous, current *unstructured.Unstructured), onExceeded func(error)) *store {
	s := &store{onChange: onChange, onExceeded: onExceeded, synced: make(chan struct{}), objects: map[string]storedObject{}}
	if a != nil {
		s.quota = a.Memory()
	}
	return s
}

// reserveForList reserves memory for an object of the list that is under way. A list that has no room beside the objects that it replaces
// takes their memory. It returns an AnswerError if the list takes more memory than the account has, or, as a transient error, if other lists
// and objects use that memory.
func (s *store) reserveForList(bytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.quota == nil:
		return nil
	case s.closed:
		return context.Canceled
	case s.listed+bytes > s.quota.Bound():
		return s.quota.ExceededError()
	case s.quota.Take(bytes) == nil:
	case !s.dropOutdated() || s.quota.Take(bytes) != nil:
		return &account.AnswerError{Detail: "other clusters of the same tenant are listed at the same time, and their lists share memory", Passing: true}
	}
	s.listed += bytes
	return nil
}

// dropOutdated gives back the memory of the objects that the list under way replaces. It returns false if there are none. The caller has the lock.
func (s *store) dropOutdated() bool {
	if len(s.objects) == 0 {
		return false
	}
	s.dropAllLocked()
	s.outdated = true
	return true
}

// dropAllLocked drops all objects, and gives their memory back.
func (s *store) dropAllLocked() {
	for _, o := range s.objects {
		_ = s.quota.Take(-o.size) // A release of memory never fails.
	}
	s.objects = map[string]storedObject{}
}

// releaseList releases the memory reserved by the last list.
func (s *store) releaseList() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseListLocked()
}

func (s *store) releaseListLocked() {
	_ = s.quota.Take(-s.listed) // A release of memory never fails.
	s.listed = 0
}

func storedObjectKey(u *unstructured.Unstructured) string {
	return u.GetNamespace() + "/" + u.GetName()
}

// Add an object, or replace it. It never fails: where the quota is used up, the watch ends.
func (s *store) Add(o any) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	stripUnreadFields(u) // One from a list is stripped already.
	previous, changed, err := s.putObject(u, 0)
	if err != nil {
		s.onExceeded(err)
	}
	if changed {
		s.onChange(previous, u)
	}
	return nil
}

// Update does the same as Add.
func (s *store) Update(o any) error { return s.Add(o) }

// Delete an object. It never fails.
func (s *store) Delete(o any) error {
	if u, ok := o.(*unstructured.Unstructured); ok {
		s.dropObject(storedObjectKey(u))
	}
	return nil
}

// Resync does nothing: readers are woken for each change once.
func (s *store) Resync() error { return nil }

// Replace all objects. It never fails.
func (s *store) Replace(all []any, _ string) error {
	listed := map[string]bool{}
	for _, o := range all {
		if u, ok := o.(*unstructured.Unstructured); ok {
			listed[storedObjectKey(u)] = true
		}
	}
	for _, o := range s.snapshotObjects() {
		if !listed[storedObjectKey(o)] {
			s.dropObject(storedObjectKey(o))
		}
	}
	for _, o := range all {
		if u, ok := o.(*unstructured.Unstructured); ok {
			s.replaceObject(u)
		}
	}
	if s.endListReservation() {
		s.onChange(nil, nil) // Objects that are gone by now are not known any more.
	}
	s.once.Do(func() { close(s.synced) })
	return nil
}

// replaceObject stores an object of a list, with the memory that the list has reserved for it.
func (s *store) replaceObject(u *unstructured.Unstructured) {
	stripUnreadFields(u) // It is stripped already, unless a test lists.
	previous, changed, err := s.putObject(u, account.MemoryOf(u.Object))
	if err != nil {
		s.onExceeded(err)
	}
	if changed {
		s.onChange(previous, u)
	}
}

// endListReservation releases the remaining reservation of the list, and lets the objects be read again. It returns true if readers were refused.
func (s *store) endListReservation() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseListLocked()
	outdated := s.outdated
	s.outdated = false
	return outdated
}

// dropObject removes an object, and reports that if it was there.
func (s *store) dropObject(key string) {
	if previous := s.removeObject(key); previous != nil {
		s.onChange(previous, nil)
	}
}

// putObject stores an object, for which a list may have reserved memory. It returns the previous object, whether anything changed, and an
// AnswerError if the quota is used up.
func (s *store) putObject(u *unstructured.Unstructured, reserved int64) (*unstructured.Unstructured, bool, error) {
	size := account.MemoryOf(u.Object)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false, nil
	}
	key := storedObjectKey(u)
	previous, isKnown := s.objects[key]
	reserved = min(reserved, s.listed)
	if err := s.quota.Take(size - previous.size - reserved); err != nil {
		return nil, false, err
	}
	s.listed -= reserved
	s.objects[key] = storedObject{Unstructured: u, size: size}
	return previous.Unstructured, !isKnown || previous.GetResourceVersion() != u.GetResourceVersion(), nil
}

// removeObject removes an object, and returns it, or nil.
func (s *store) removeObject(key string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[key]
	_ = s.quota.Take(-o.size) // A release of memory never fails.
	delete(s.objects, key)
	return o.Unstructured
}

// closeStore gives all memory back. A closed store accepts no objects. It returns false if it was closed before.
func (s *store) closeStore() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropAllLocked()
	s.releaseListLocked()
	wasClosed := s.closed
	s.closed = true
	return !wasClosed
}

func (s *store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// areObjectsUnknown reports whether the objects of the cluster are not known now.
func (s *store) areObjectsUnknown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed || s.outdated
}

// getObject returns an object, or nil if there is none. It returns an *Error if the store was closed meanwhile: its objects are not current
// any more.
func (s *store) getObject(namespace, name string) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.outdated {
		return nil, unansweredError()
	}
	return s.objects[namespace+"/"+name].Unstructured, nil
}

func (s *store) snapshotObjects() []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*unstructured.Unstructured, 0, len(s.objects))
	for _, o := range s.objects {
		out = append(out, o.Unstructured)
	}
	return out
}

// objectsNamed returns the objects of a name, by namespace. It returns an *Error as getObject does.
func (s *store) objectsNamed(name string) ([]*unstructured.Unstructured, error) {
	if s.areObjectsUnknown() {
		return nil, unansweredError()
	}
	out := slices.DeleteFunc(s.snapshotObjects(), func(u *unstructured.Unstructured) bool { return u.GetName() != name })
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetNamespace(), b.GetNamespace()) })
	return out, nil
}

// matchingObjects returns the objects that match, by their names. It returns an *Error as getObject does.
func (s *store) matchingObjects(match func(*unstructured.Unstructured) bool) ([]*unstructured.Unstructured, error) {
	if s.areObjectsUnknown() {
		return nil, unansweredError()
	}
	out := slices.DeleteFunc(s.snapshotObjects(), func(u *unstructured.Unstructured) bool { return !match(u) })
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return out, nil
}

func (s *store) isSynced() bool {
	select {
	case <-s.synced:
		return true
	default:
		return false
	}
}
