package notification

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/notification"
)

// LabelMarks is on each ConfigMap with marks, and holds the namespace that they are about. It is empty on the ConfigMap about
// ClusterProviderConfigs.
const LabelMarks = "intentplane.dev/notification-marks"

const (
	// marksName is the prefix of the name of a ConfigMap with marks.
	marksName = "intentplane-notification-marks"

	// saveTimeout bounds the write of a book.
	saveTimeout = 5 * time.Second

	// marksKey is the key of the book in its ConfigMap.
	marksKey = "marks.json"
)

// books keep the marks of all namespaces. They are in the provider's own namespace, where no tenant can write: otherwise a tenant could keep outcomes from being
// posted. The controllers of both API groups share them: each book is read once, and written once for all reconciles that wait for that. A leader that writes a book
// although another one has begun lets outcomes be posted again, as a lost mark does.
type books struct {
	kube      client.Client
	namespace string
	log       logging.Logger

	mu   sync.Mutex
	open map[string]*book
}

// A book is the Book of one namespace, with its ConfigMap.
type book struct {
	kube      client.Client
	key       client.ObjectKey
	namespace string

	// mu guards content and changes, and saving guards saved. saving is locked first.
	mu, saving sync.Mutex
	content    *notification.Book
	// changes counts the changes of the content, and saved the written changes.
	changes, saved int
}

func newMarksBooks(kube client.Client, namespace string, log logging.Logger) *books {
	return &books{kube: kube, namespace: namespace, log: log, open: map[string]*book{}}
}

// openNamespaceBook returns the book of a namespace. It returns an error if the book cannot be read.
func (s *books) openNamespaceBook(ctx context.Context, namespace string) (*book, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.open[namespace]; b != nil {
		return b, nil
	}
	b, cm := &book{kube: s.kube, key: client.ObjectKey{Namespace: s.namespace, Name: marksConfigMapName(namespace)}, namespace: namespace, content: &notification.Book{}}, &corev1.ConfigMap{}
	if err := s.kube.Get(ctx, b.key, cm); client.IgnoreNotFound(err) != nil {
		return nil, errors.Wrap(err, "cannot get marks of notifications")
	}
	if text, isWritten := cm.Data[marksKey]; isWritten {
		b.content = s.decodeMarks(b.key, text)
	}
	s.open[namespace] = b
	return b, nil
}

// decodeMarks returns the content of a book. Undecodable content counts as empty, with a line in the log: receivers get only later outcomes, and miss earlier ones.
func (s *books) decodeMarks(key client.ObjectKey, text string) *notification.Book {
	content, err := notification.DecodeBook(text)
	if err != nil {
		s.log.Info("Cannot decode marks of notifications: receivers get outcomes from now on alone", "configMap", key.String(), "error", err)
		return &notification.Book{}
	}
	return content
}

// namespacesOfMarks returns the namespaces with a ConfigMap of marks. It returns an error if they cannot be listed.
func (s *books) namespacesOfMarks(ctx context.Context) ([]string, error) {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	var out []string
	err := listing.EachPage(ctx, s.kube, l, func() {
		for i := range l.Items {
			out = append(out, l.Items[i].Labels[LabelMarks])
		}
	}, client.InNamespace(s.namespace), client.HasLabels{LabelMarks})
	return out, errors.Wrap(err, "cannot list marks of notifications")
}

// marksConfigMapName returns the name of the ConfigMap for a namespace.
func marksConfigMapName(namespace string) string {
	if namespace == "" {
		return marksName
	}
	return marksName + "." + namespace
}

// read calls a function with the content of the book.
func (b *book) read(do func(*notification.Book)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do(b.content)
}

// editContent calls a function with the content of the book. The function returns whether it changed it.
func (b *book) editContent(do func(*notification.Book) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if do(b.content) {
		b.changes++
	}
}

// saveChanges writes the changes that were made so far, unless another reconcile has written them. It does so too while the provider shuts down: each mark is of a
// post that was made. It returns an error if the book cannot be written.
func (b *book) saveChanges(ctx context.Context) error {
	wanted := 0
	b.read(func(*notification.Book) { wanted = b.changes })
	b.saving.Lock()
	defer b.saving.Unlock()
	if b.saved >= wanted {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	var text string
	var err error
	b.read(func(content *notification.Book) {
		if wanted = b.changes; !content.IsEmpty() {
			text, err = content.Encode()
		}
	})
	if err == nil {
		err = errors.Wrap(b.writeConfigMap(ctx, text), "cannot write marks of notifications")
	}
	if err == nil {
		b.saved = wanted
	}
	return err
}

// writeConfigMap writes a text to the ConfigMap, or deletes the ConfigMap if the text is empty.
func (b *book) writeConfigMap(ctx context.Context, text string) error {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.key.Namespace, Name: b.key.Name, Labels: map[string]string{LabelMarks: b.namespace}}}
	if text == "" {
		return client.IgnoreNotFound(b.kube.Delete(ctx, cm))
	}
	cm.Data = map[string]string{marksKey: text}
	err := b.kube.Update(ctx, cm)
	if kerrors.IsNotFound(err) {
		return b.kube.Create(ctx, cm)
	}
	return err
}

// recordedStartTime returns the time since which a receiver exists, or false if it is unknown.
func (b *book) recordedStartTime(r notification.ReceiverID) (start time.Time, isKnown bool) {
	b.read(func(content *notification.Book) {
		p, ok := content.Receivers[r]
		start, isKnown = time.Unix(p.Since, 0), ok
	})
	return start, isKnown
}

// isFull reports whether the book has room for no further receiver.
func (b *book) isFull() (full bool) {
	b.read(func(content *notification.Book) { full = content.IsFull() })
	return full
}

// hasConfigChanged reports whether a deployment names another configuration than at the last look.
func (b *book) hasConfigChanged(d *observedDeployment) (moved bool) {
	b.read(func(content *notification.Book) { moved = content.HasMoved(d.Identity.ID(), d.namedConfig()) })
	return moved
}

// knownReceivers returns the existing receivers, and recently removed ones.
func (b *book) knownReceivers() (out []notification.ReceiverID) {
	b.read(func(content *notification.Book) { out = slices.Collect(maps.Keys(content.Receivers)) })
	return out
}

// reconcileBook notes which receivers the configurations of a namespace have, or ClusterProviderConfigs where it is empty, drops the marks of receivers and
// deleted deployments, and wakes the deployments after a change of a ProviderConfig. It lists all deployments of the namespace, so no event of a deployment calls it.
// It returns an error if an object cannot be read or written.
func (r *Reconciler) reconcileBook(ctx context.Context, namespace string) (reconcile.Result, error) {
	b, err := r.books.openNamespaceBook(ctx, namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	delay, err := r.recordReceivers(ctx, b)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.dropStaleMarks(ctx, b, namespace); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: delay}, b.saveChanges(ctx)
}

// recordReceivers notes in a book which receivers its configurations have, and returns when the next missing receiver is forgotten, or 0. It returns an error if
// the configurations cannot be listed.
func (r *Reconciler) recordReceivers(ctx context.Context, b *book) (delay time.Duration, err error) {
	present, err := r.presentReceivers(ctx, b.namespace)
	if err != nil {
		return 0, err
	}
	b.editContent(func(content *notification.Book) (changed bool) {
		if changed, delay = content.See(present, r.now()); changed && b.namespace == "" {
			r.areBooksWoken.Store(false)
		}
		return changed
	})
	return delay, nil
}

// dropDeployment drops the marks of a deployment that does not exist any more. A deployment that was deleted before its first reconcile has no recorded UID: then
// it wakes the marks of the namespace, once for any number of deployments.
func (r *Reconciler) dropDeployment(ctx context.Context, namespace, uid string) error {
	if uid == "" {
		r.wake(types.NamespacedName{Namespace: namespace})
		return nil
	}
	b, err := r.books.openNamespaceBook(ctx, namespace)
	if err != nil {
		return err
	}
	deleted := r.deploymentID(types.UID(uid))
	b.editContent(func(content *notification.Book) bool { return content.Drop(deleted) })
	return b.saveChanges(ctx)
}

// deploymentID returns the ID of a deployment of the group that the reconciler follows.
func (r *Reconciler) deploymentID(uid types.UID) notification.DeploymentID {
	d := notification.Deployment{APIVersion: r.gvk.GroupVersion().String(), UID: string(uid)}
	return d.ID()
}

// dropStaleMarks drops the marks of deployments of a namespace that do not exist, and of receivers that are not known any more, and wakes the deployments
// after a change of a ProviderConfig. Where the receivers of ClusterProviderConfigs have changed, and when the provider begins, it wakes the marks of all
// namespaces.
func (r *Reconciler) dropStaleMarks(ctx context.Context, b *book, namespace string) error {
	if namespace == "" {
		return r.wakeAllMarks(ctx)
	}
	deployments, err := r.listDeployments(ctx, namespace)
	if err != nil {
		return err
	}
	_, isChanged := r.changed.LoadAndDelete(namespace)
	existing := sets.New[notification.DeploymentID]()
	for i := range deployments {
		existing.Insert(r.deploymentID(deployments[i].UID))
		if isChanged {
			r.wake(client.ObjectKeyFromObject(&deployments[i]))
		}
	}
	isOther := func(d notification.DeploymentID) bool { return !strings.HasPrefix(string(d), r.gvk.Group+"/") }
	shared, err := r.books.openNamespaceBook(ctx, "")
	if err != nil {
		return err
	}
	receivers := append(shared.knownReceivers(), b.knownReceivers()...)
	b.editContent(func(content *notification.Book) bool {
		return content.Keep(func(d notification.DeploymentID) bool { return existing.Has(d) || isOther(d) }, receivers)
	})
	return nil
}

// wakeAllMarks requests a reconcile of the marks of each namespace, also of a namespace whose deployments were deleted while no provider ran,
// unless nothing has changed since that worked.
func (r *Reconciler) wakeAllMarks(ctx context.Context) error {
	if r.areBooksWoken.Swap(true) {
		return nil
	}
	all, err := r.books.namespacesOfMarks(ctx)
	if err != nil {
		r.areBooksWoken.Store(false)
	}
	for _, namespace := range all {
		r.wake(types.NamespacedName{Namespace: namespace})
	}
	return err
}
