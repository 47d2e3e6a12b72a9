package load

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// An Effect is the effect of a write on an object.
type Effect string

const (
	// Changes is the effect of a write after which the object says something else.
	Changes Effect = ""

	// Nothing is the effect of a write that the server did not even store.
	Nothing Effect = "nothing"

	// OnlyTimes is the effect of a write that changed no more than times of conditions, and which manager has a field.
	OnlyTimes Effect = "only times"

	// Undoes is the effect of a write that restores the content from before an earlier write.
	Undoes Effect = "undoes"

	// Undone is the effect of a write that a later one undoes.
	Undone Effect = "undone"
)

// Labels by which Crossplane names the owners of an object.
const (
	labelComposite      = "crossplane.io/composite"
	labelClaim          = "crossplane.io/claim-name"
	labelClaimNamespace = "crossplane.io/claim-namespace"
)

// histories follow the objects of a log.
type histories struct {
	requests []Request
	objects  map[types.UID]*history
	// owners are the deployments that objects belong to, by their uids, and uids are by the names of objects.
	owners map[types.UID]string
	uids   map[string]types.UID
}

// A history has the content of an object after each stored write.
type history struct {
	last   *unstructured.Unstructured
	states []state
}

// A state is the content of an object, with the request that wrote it.
type state struct {
	digest  [sha256.Size]byte
	request int
}

func newHistories() *histories {
	return &histories{objects: map[types.UID]*history{}, owners: map[types.UID]string{}, uids: map[string]types.UID{}}
}

// addAuditEvent adds the event of a line of the log.
func (h *histories) addAuditEvent(e auditEvent) error {
	r := requestOfEvent(e)
	o, err := decodeAnswer(e)
	if err != nil {
		return err
	}
	if o != nil {
		r.uid, r.Namespace, r.Name = o.GetUID(), o.GetNamespace(), o.GetName()
		h.uids[objectKey(r)] = r.uid
		h.recordOwner(r, o)
	}
	h.requests = append(h.requests, r)
	if o == nil || !r.IsWrite() || r.Verb == "delete" {
		return nil
	}
	return h.recordEffect(len(h.requests)-1, o)
}

// objectKey is the name of an object, for all of its subresources.
func objectKey(r Request) string {
	return trimSubresource(r.Resource) + " " + r.Namespace + "/" + r.Name
}

// deploymentResources are the resources of deployments: claims or namespaced composites, and the resources that a bench compares them with.
func deploymentResources() []string { return []string{"intentdeployments", "baselines"} }

// recordOwner notes the deployment that an object belongs to.
func (h *histories) recordOwner(r Request, o *unstructured.Unstructured) {
	labels := o.GetLabels()
	switch {
	case slices.Contains(deploymentResources(), trimSubresource(r.Resource)):
		h.owners[r.uid] = r.Namespace + "/" + r.Name
	case labels[labelClaim] != "":
		h.owners[r.uid] = labels[labelClaimNamespace] + "/" + labels[labelClaim]
	case labels[labelComposite] != "":
		h.owners[r.uid] = r.Namespace + "/" + labels[labelComposite]
	}
}

// recordEffect compares the content of an object after a request with the content before.
func (h *histories) recordEffect(request int, o *unstructured.Unstructured) error {
	digest, err := digestContent(o)
	if err != nil {
		return err
	}
	r := &h.requests[request]
	objectHistory, isKnown := h.objects[r.uid]
	if !isKnown {
		h.objects[r.uid] = &history{last: o, states: []state{{digest: digest, request: request}}}
		return nil
	}
	if objectHistory.last.GetResourceVersion() == o.GetResourceVersion() {
		r.Effect = Nothing
		return nil
	}
	r.Changed = changedFields(objectHistory.last, o)
	objectHistory.last = o
	if objectHistory.states[len(objectHistory.states)-1].digest == digest {
		r.Effect, r.Changed = OnlyTimes, nil
		return nil
	}
	if i := slices.IndexFunc(objectHistory.states, func(s state) bool { return s.digest == digest }); i >= 0 {
		r.Effect = Undoes
		for _, s := range objectHistory.states[i+1:] {
			h.requests[s.request].Effect = Undone
		}
	}
	objectHistory.states = append(objectHistory.states, state{digest: digest, request: request})
	return nil
}

// resolveRequests returns the requests, each with the deployment that its object belongs to.
func (h *histories) resolveRequests() []Request {
	for i := range h.requests {
		r := &h.requests[i]
		if r.uid == "" {
			r.uid = h.uids[objectKey(*r)]
		}
		r.Deployment = h.ownerOfObject(r.uid)
	}
	return h.requests
}

// ownerOfObject returns the deployment that an object belongs to, itself or by the object that it is about.
func (h *histories) ownerOfObject(uid types.UID) string {
	if owner, ok := h.owners[uid]; ok {
		return owner
	}
	object, ok := h.objects[uid]
	if !ok {
		return ""
	}
	involved, _, _ := unstructured.NestedString(object.last.Object, "involvedObject", "uid")
	if owner, ok := h.owners[types.UID(involved)]; ok {
		return owner
	}
	for _, ref := range object.last.GetOwnerReferences() {
		if owner, ok := h.owners[ref.UID]; ok {
			return owner
		}
	}
	return ""
}

// digestContent returns a digest of the content of an object: times of conditions do not count, nor the managers of fields.
func digestContent(o *unstructured.Unstructured) ([sha256.Size]byte, error) {
	bare := o.DeepCopy()
	for _, volatile := range []string{"resourceVersion", "managedFields", "generation"} {
		unstructured.RemoveNestedField(bare.Object, "metadata", volatile)
	}
	if conditions, found, _ := unstructured.NestedSlice(bare.Object, "status", "conditions"); found {
		if err := unstructured.SetNestedMap(bare.Object, fieldsOfValue(conditions), "status", "conditions"); err != nil {
			return [sha256.Size]byte{}, errors.Wrapf(err, "cannot read the conditions of %s %s", o.GetKind(), o.GetName())
		}
	}
	b, err := json.Marshal(bare.Object)
	return sha256.Sum256(b), errors.Wrapf(err, "cannot encode %s %s", o.GetKind(), o.GetName())
}
