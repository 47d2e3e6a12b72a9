package notification

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/provider/notification"
)

// LabelRecord is on the ConfigMap with the record of a deployment, and holds the API group of the deployment.
const LabelRecord = "intentplane.dev/notifications"

// recordKey is the key of the record in its ConfigMap.
const recordKey = "record.json"

// A store keeps the records of the deployments of one API group. They are in the provider's own namespace, where no tenant can write: otherwise a
// tenant could let the provider sign a notification of an outcome that never was.
type store struct {
	kube      client.Client
	namespace string
	group     string
}

// A storedRecord is a record with the ConfigMap that it was read from, which is nil for one that does not exist.
type storedRecord struct {
	notification.Record

	object *corev1.ConfigMap
}

// get returns the record of a deployment, which is empty where none exists or where it cannot be decoded. It returns an error if it cannot be read.
func (s store) get(ctx context.Context, key types.NamespacedName) (*storedRecord, error) {
	cm := &corev1.ConfigMap{}
	err := s.kube.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: s.nameOf(key)}, cm)
	if kerrors.IsNotFound(err) {
		return &storedRecord{}, nil
	}
	if err != nil {
		return nil, errors.Wrap(err, "cannot get record of notifications")
	}
	out := &storedRecord{object: cm}
	if r, err := notification.DecodeRecord(cm.Data[recordKey]); err == nil {
		out.Record = *r
	}
	return out, nil
}

// put writes a record. It returns an error if it cannot be written, or if it was written meanwhile.
func (s store) put(ctx context.Context, key types.NamespacedName, r *storedRecord) error {
	text, err := r.Encode()
	if err != nil {
		return err
	}
	isNew := r.object == nil
	if isNew {
		r.object = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.nameOf(key), Labels: map[string]string{LabelRecord: s.group}}}
	}
	r.object.Data = map[string]string{recordKey: text}
	if isNew {
		return errors.Wrap(s.kube.Create(ctx, r.object), "cannot create record of notifications")
	}
	return errors.Wrap(s.kube.Update(ctx, r.object), "cannot update record of notifications")
}

// remove deletes a record. It returns an error if that is not possible.
func (s store) remove(ctx context.Context, r *storedRecord) error {
	if r.object == nil {
		return nil
	}
	return errors.Wrap(client.IgnoreNotFound(s.kube.Delete(ctx, r.object)), "cannot delete record of notifications")
}

// list returns the deployments that have a record. It returns an error if records cannot be listed.
func (s store) list(ctx context.Context) ([]types.NamespacedName, error) {
	l := &corev1.ConfigMapList{}
	if err := s.kube.List(ctx, l, client.InNamespace(s.namespace), client.MatchingLabels{LabelRecord: s.group}); err != nil {
		return nil, errors.Wrap(err, "cannot list records of notifications")
	}
	var out []types.NamespacedName
	for i := range l.Items {
		r, err := notification.DecodeRecord(l.Items[i].Data[recordKey])
		if err == nil && r.Deployment.Name != "" {
			out = append(out, types.NamespacedName{Namespace: r.Deployment.Namespace, Name: r.Deployment.Name})
		}
	}
	return out, nil
}

// nameOf returns the name of the ConfigMap for a deployment, whose own name may be too long.
func (s store) nameOf(key types.NamespacedName) string {
	sum := sha256.Sum256([]byte(s.group + "/" + key.String()))
	return "intentplane-notifications-" + hex.EncodeToString(sum[:10])
}
