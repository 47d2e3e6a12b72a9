package notification

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

func newBooks(kube client.Client, namespace string, log logging.Logger) *books {
	return &books{kube: kube, namespace: namespace, log: log, open: map[string]*book{}}
}

// get returns the book of a namespace. It returns an error if the book cannot be read.
func (s *books) get(ctx context.Context, namespace string) (*book, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.open[namespace]; b != nil {
		return b, nil
	}
	b, cm := &book{kube: s.kube, key: client.ObjectKey{Namespace: s.namespace, Name: nameOf(namespace)}, namespace: namespace, content: &notification.Book{}}, &corev1.ConfigMap{}
	if err := s.kube.Get(ctx, b.key, cm); client.IgnoreNotFound(err) != nil {
		return nil, errors.Wrap(err, "cannot get marks of notifications")
	}
	if text, isWritten := cm.Data[marksKey]; isWritten {
		b.content = s.decode(b.key, text)
	}
	s.open[namespace] = b
	return b, nil
}

// decode returns the content of a book. Undecodable content counts as empty, with a line in the log: receivers get only later outcomes, and miss earlier ones.
func (s *books) decode(key client.ObjectKey, text string) *notification.Book {
	content, err := notification.DecodeBook(text)
	if err != nil {
		s.log.Info("Cannot decode marks of notifications: receivers get outcomes from now on alone", "configMap", key.String(), "error", err)
		return &notification.Book{}
	}
	return content
}

// namespaces returns the namespaces with a ConfigMap of marks. It returns an error if they cannot be listed.
func (s *books) namespaces(ctx context.Context) ([]string, error) {
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

// nameOf returns the name of the ConfigMap for a namespace.
func nameOf(namespace string) string {
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

// edit calls a function with the content of the book. The function returns whether it changed it.
func (b *book) edit(do func(*notification.Book) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if do(b.content) {
		b.changes++
	}
}

// save writes the changes that were made so far, unless another reconcile has written them. It does so too while the provider shuts down: each mark is of a
// post that was made. It returns an error if the book cannot be written.
func (b *book) save(ctx context.Context) error {
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
		err = errors.Wrap(b.write(ctx, text), "cannot write marks of notifications")
	}
	if err == nil {
		b.saved = wanted
	}
	return err
}

// write writes a text to the ConfigMap, or deletes the ConfigMap if the text is empty.
func (b *book) write(ctx context.Context, text string) error {
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

// sinceOf returns the time since which a receiver exists, or false if it is unknown.
func (b *book) sinceOf(r notification.ReceiverID) (start time.Time, isKnown bool) {
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

// hasMoved reports whether a deployment names another configuration than at the last look.
func (b *book) hasMoved(d *observedDeployment) (moved bool) {
	b.read(func(content *notification.Book) { moved = content.HasMoved(d.Identity.ID(), d.config()) })
	return moved
}

// receivers returns the existing receivers, and recently removed ones.
func (b *book) receivers() (out []notification.ReceiverID) {
	b.read(func(content *notification.Book) { out = slices.Collect(maps.Keys(content.Receivers)) })
	return out
}
