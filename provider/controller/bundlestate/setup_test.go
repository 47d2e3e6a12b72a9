package bundlestate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/bundle"
)

// errKilled is the result of a write after the provider was killed.
var errKilled = errors.New("the provider was killed")

// A server is a double of an API server with the objects of one namespace. It has versions and UIDs of objects, and holds on to deleted objects until
// the story lets them go.
type server struct {
	client.Client

	namespace string
	secrets   map[string]*corev1.Secret
	now       func() time.Time

	// objects are packages and Bundles, by their kind, group and name.
	objects map[objectKey]*unstructured.Unstructured
	states  map[string]*v1alpha1.BundleState
	volumes map[string]bool
	version int

	// writesLeft is how many writes the provider makes before it is killed. Below zero it is not.
	writesLeft int
	// written counts writes, and onDelete is called with each object that the provider deletes.
	written  int
	onDelete func(*unstructured.Unstructured)

	// hidesBundles and ignoresVersions disable protections, so that a story has to find the fault that each prevents.
	hidesBundles, ignoresVersions bool
}

func keyOfObject(o client.Object) objectKey {
	k := o.GetObjectKind().GroupVersionKind()
	return objectKey{k.Group, k.Kind, o.GetName()}
}

// put stores an object in another version, or as a new object if it does not exist.
func (s *server) put(u *unstructured.Unstructured) {
	s.version++
	u.SetResourceVersion(fmt.Sprint(s.version))
	if u.GetUID() == "" {
		u.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
	}
	s.objects[keyOfObject(u)] = u
}

// admitWrite counts a write, unless the provider is killed before it.
func (s *server) admitWrite() error {
	if s.writesLeft == 0 {
		return errKilled
	}
	s.writesLeft--
	s.written++
	return nil
}

// Get returns a package. No kind is undefined.
func (s *server) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	found := s.objects[objectKey{u.GroupVersionKind().Group, u.GetKind(), key.Name}]
	if found == nil {
		return kerrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	found.DeepCopyInto(u)
	return nil
}

// List returns objects of a kind, and only objects with the requested labels.
func (s *server) List(_ context.Context, l client.ObjectList, opts ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(opts)
	switch l := l.(type) {
	case *v1alpha1.BundleStateList:
		for _, name := range slices.Sorted(maps.Keys(s.states)) {
			l.Items = append(l.Items, *s.states[name].DeepCopy())
		}
	case *corev1.SecretList:
		l.Items = s.listSecrets().Items
	case *deliveryv1alpha1.GitDeliveryList:
		for _, name := range slices.Sorted(maps.Keys(s.volumes)) {
			l.Items = append(l.Items, newDelivery(s.namespace, name, s.volumes[name]))
		}
	case *unstructured.UnstructuredList:
		s.listObjects(l, o)
	}
	return nil
}

func (s *server) listObjects(l *unstructured.UnstructuredList, o client.ListOptions) {
	kind := strings.TrimSuffix(l.GetKind(), "List")
	for _, key := range slices.SortedFunc(maps.Keys(s.objects), compareKeys) {
		u := s.objects[key]
		isMeant := o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(u.GetLabels()))
		if key.kind == kind && key.group == l.GroupVersionKind().Group && isMeant && (kind != "Bundle" || !s.hidesBundles) {
			l.Items = append(l.Items, *u.DeepCopy())
		}
	}
}

// Create makes a package, unless there is one of its name.
func (s *server) Create(_ context.Context, o client.Object, opts ...client.CreateOption) error {
	u, _ := o.(*unstructured.Unstructured)
	if s.objects[keyOfObject(u)] != nil {
		return kerrors.NewAlreadyExists(schema.GroupResource{}, u.GetName())
	}
	if err := s.admitWrite(); err != nil {
		return err
	}
	all := client.CreateOptions{}
	all.ApplyOptions(opts)
	created := u.DeepCopy()
	created.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: all.FieldManager}})
	s.put(created)
	u.SetUID(created.GetUID())
	return nil
}

// Status writes into the statuses of BundleStates.
func (s *server) Status() client.SubResourceWriter { return statusWriter{server: s} }

type statusWriter struct {
	client.SubResourceWriter

	server *server
}

// Patch replaces the packages in a status.
func (w statusWriter) Patch(_ context.Context, o client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
	if err := w.server.admitWrite(); err != nil {
		return err
	}
	data, err := p.Data(o)
	if err != nil {
		return err
	}
	changed := &v1alpha1.BundleState{}
	if err := json.Unmarshal(data, changed); err != nil {
		return err
	}
	w.server.states[o.GetName()].Status.AtProvider.Packages = changed.Status.AtProvider.Packages
	return nil
}

// Update changes a package of just the version that is given.
func (s *server) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	u, _ := o.(*unstructured.Unstructured)
	if err := s.checkVersion(u, u.GetResourceVersion()); err != nil {
		return err
	}
	if err := s.admitWrite(); err != nil {
		return err
	}
	changed := u.DeepCopy()
	changed.SetManagedFields(append(changed.GetManagedFields(), metav1.ManagedFieldsEntry{Manager: bundle.FieldOwner}))
	s.put(changed)
	return nil
}

// Delete marks a package as deleted.
func (s *server) Delete(_ context.Context, o client.Object, opts ...client.DeleteOption) error {
	all := client.DeleteOptions{}
	all.ApplyOptions(opts)
	u, _ := o.(*unstructured.Unstructured)
	if err := s.checkVersion(u, *all.Preconditions.ResourceVersion); err != nil {
		return err
	}
	if err := s.admitWrite(); err != nil {
		return err
	}
	found := s.objects[keyOfObject(u)]
	s.onDelete(found)
	s.markDeleted(found)
	return nil
}

func (s *server) checkVersion(u *unstructured.Unstructured, version string) error {
	found := s.objects[keyOfObject(u)]
	if found == nil {
		return kerrors.NewNotFound(schema.GroupResource{}, u.GetName())
	}
	if found.GetResourceVersion() != version && !s.ignoresVersions {
		return kerrors.NewConflict(schema.GroupResource{}, u.GetName(), nil)
	}
	return nil
}

func (s *server) markDeleted(u *unstructured.Unstructured) {
	timestamp := metav1.NewTime(s.now())
	u.SetDeletionTimestamp(&timestamp)
	s.put(u)
}

// deliveredFiles are the encoded files of a package with a volume and of one without. Each story lists them thousands of times.
var deliveredFiles = map[bool][]byte{
	true:  encodeFile("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\n"),
	false: encodeFile("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"),
}

func encodeFile(content string) []byte {
	files, err := tree.Encode(tree.Files{"a.yaml": []byte(content)})
	if err != nil {
		panic(err)
	}
	return files
}

// newDelivery returns the delivery of a package: its objects are all known, and it has a volume or has none.
func newDelivery(namespace, name string, volume bool) deliveryv1alpha1.GitDelivery {
	d := deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	d.Spec.ForProvider.ClaimRef.APIGroup, d.Spec.ForProvider.ClaimRef.Name = group, name
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Files: deliveredFiles[volume]}}
	return d
}

func (s *server) listSecrets() *corev1.SecretList {
	l := &corev1.SecretList{}
	for _, name := range slices.Sorted(maps.Keys(s.secrets)) {
		l.Items = append(l.Items, *s.secrets[name].DeepCopy())
	}
	return l
}

// answerSecrets answers the Secret requests of a clientset.
func (s *server) answerSecrets(a clienttesting.Action) (runtime.Object, error) {
	switch a := a.(type) {
	case clienttesting.GetAction:
		if found := s.secrets[a.GetName()]; found != nil && a.GetVerb() == "get" {
			return found.DeepCopy(), nil
		}
		if a.GetVerb() == "get" {
			return nil, kerrors.NewNotFound(corev1.Resource("secrets"), a.GetName())
		}
	case clienttesting.ListAction:
		return s.listSecrets(), nil
	}
	if err := s.admitWrite(); err != nil {
		return nil, err
	}
	s.version++
	switch a := a.(type) {
	case clienttesting.UpdateAction:
		return s.storeSecret(a.GetObject())
	case clienttesting.DeleteAction:
		delete(s.secrets, a.GetName())
	}
	return nil, nil //nolint:nilnil // A deletion answers nothing.
}

// storeSecret stores a Secret in another version.
func (s *server) storeSecret(o runtime.Object) (runtime.Object, error) {
	secret, _ := o.DeepCopyObject().(*corev1.Secret)
	secret.ResourceVersion = fmt.Sprint(s.version)
	s.secrets[secret.GetName()] = secret
	return secret.DeepCopy(), nil
}
