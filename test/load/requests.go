package load

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// AuditPolicy lets an API server log the requests that ReadRequests reads: each write with the resulting object, and each read without an
// object. Secrets and tokens are not logged.
const AuditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
  - level: None
    resources:
      - {group: "", resources: [secrets, serviceaccounts/token]}
      - {group: coordination.k8s.io}
      - {group: authentication.k8s.io}
      - {group: authorization.k8s.io}
  - level: RequestResponse
    verbs: [create, update, patch, delete, deletecollection]
  - level: Metadata
    verbs: [get, list]
  - level: None
`

// A Request is a request that the API server answered, as its audit log has it.
type Request struct {
	// Deployment that the object belongs to, as namespace/name. Empty if it belongs to none.
	Deployment string

	// Resource is the plural of the kind, with the subresource behind a slash. Namespace and Name belong to the object.
	Resource, Namespace, Name string

	// Verb of the request, and Manager of the fields that it writes: the program, where the request names none.
	Verb, Manager string

	// Code that the server answered.
	Code int

	// Bytes of the object in the answer as JSON, with its managed fields. 0 where the log does not have it.
	Bytes int

	// At is when the server received it, and Took how long its answer took.
	At   time.Time
	Took time.Duration

	// Changed are the fields that came, changed or went. They are none for an object that is seen for the first time.
	Changed []string

	// Effect of a write that succeeded.
	Effect Effect

	uid types.UID
}

// IsWrite reports whether a request asks for a change.
func (r Request) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb)
}

// trimSubresource returns the plural of a kind, without a subresource.
func trimSubresource(resource string) string {
	plural, _, _ := strings.Cut(resource, "/")
	return plural
}

// IsEvent reports whether the object is an event, by which people learn of another object.
func (r Request) IsEvent() bool { return r.Resource == "events" }

// auditEvent has the fields that are read of a line of the log.
type auditEvent struct {
	Verb       string    `json:"verb"`
	RequestURI string    `json:"requestURI"`
	UserAgent  string    `json:"userAgent"`
	Received   time.Time `json:"requestReceivedTimestamp"`
	Answered   time.Time `json:"stageTimestamp"`
	ObjectRef  struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	ResponseObject json.RawMessage `json:"responseObject"`
}

// ReadRequests reads the requests of an audit log, in their order. A last line that is not whole yet is left out. It returns an error if the log
// cannot be read.
func ReadRequests(log io.Reader) ([]Request, error) {
	lines, h := json.NewDecoder(log), newHistories()
	for {
		e := auditEvent{}
		err := lines.Decode(&e)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return h.resolveRequests(), nil
		}
		if err != nil {
			return nil, errors.Wrap(err, "cannot read the audit log")
		}
		if err := h.addAuditEvent(e); err != nil {
			return nil, err
		}
	}
}

// requestOfEvent returns the request of a line, without its effect.
func requestOfEvent(e auditEvent) Request {
	return Request{
		Resource:  strings.TrimSuffix(e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/"),
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Verb: e.Verb, Manager: fieldManager(e), Code: e.ResponseStatus.Code,
		Bytes: len(e.ResponseObject), At: e.Received, Took: e.Answered.Sub(e.Received),
	}
}

// composedManager is the field manager of Crossplane's composed objects. It adds a digest of the composite.
const composedManager = "apiextensions.crossplane.io/composed"

// fieldManager returns the manager that a request names, or else the program that sent it, as the API server does.
func fieldManager(e auditEvent) string {
	if u, err := url.Parse(e.RequestURI); err == nil && u.Query().Get("fieldManager") != "" {
		name := u.Query().Get("fieldManager")
		if strings.HasPrefix(name, composedManager+"/") {
			return composedManager
		}
		return name
	}
	program, _, _ := strings.Cut(e.UserAgent, "/")
	return program
}

// decodeAnswer returns the object of an answer, or nil if there is none.
func decodeAnswer(e auditEvent) (*unstructured.Unstructured, error) {
	if len(e.ResponseObject) == 0 {
		return nil, nil //nolint:nilnil // A read is logged without its object.
	}
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(e.ResponseObject, &o.Object); err != nil {
		return nil, errors.Wrapf(err, "cannot read the object of an answer about %s %s", e.ObjectRef.Resource, e.ObjectRef.Name)
	}
	if o.GetUID() == "" {
		return nil, nil //nolint:nilnil // A refusal is answered with a Status.
	}
	return o, nil
}
