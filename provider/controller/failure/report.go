package failure

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/revisionobject"
	"github.com/intentplane/intentplane/apis/tree"
)

// Labels of a report.
const (
	// LabelDeployment holds the digest of the deployment's name and group, which may be too long for a label.
	LabelDeployment = "intentplane.dev/failed-deployment"

	// LabelRevision holds the number of the revision.
	LabelRevision = "intentplane.dev/failed-revision"
)

// Bounds of a report: an object has to stay below 1 MiB.
const (
	maxTreeBytes = 640 << 10
	maxSaidBytes = 128 << 10
	maxEvents    = 100

	// summaryKey is the key of the summary. Beside it is an archive per Site.
	summaryKey = "summary.json"
	archive    = ".tar.gz"
)

// A summary is the part of a report that is not a tree.
type summary struct {
	Revision int64  `json:"revision"`
	Reason   string `json:"reason"`
	Message  string `json:"message,omitempty"`

	// Transitions are included, because their events may be created after the report.
	Transitions []deploymentv1alpha1.Transition `json:"transitions,omitempty"`

	Trees   []treeSummary                         `json:"trees,omitempty"`
	Results []deploymentv1alpha1.ValidationResult `json:"results,omitempty"`
	Events  []eventSummary                        `json:"events,omitempty"`
}

type treeSummary struct {
	Site string `json:"site"`
	Path string `json:"path,omitempty"`
	Tree string `json:"tree,omitempty"`

	// Withheld names the part of the tree that is not in the report, with the reason.
	Withheld string `json:"withheld,omitempty"`
}

type eventSummary struct {
	At      metav1.Time `json:"at"`
	Type    string      `json:"type"`
	Reason  string      `json:"reason"`
	Message string      `json:"message"`
}

// newReportConfigMap returns the ConfigMap about a rejected revision. The deployment owns it.
func newReportConfigMap(u *unstructured.Unstructured, s deploymentv1alpha1.IntentDeploymentStatus, trees []deliveryv1alpha1.Tree, events []corev1.Event) (*corev1.ConfigMap, error) {
	content := summary{Revision: s.Revision, Reason: s.Rollback.Reason, Message: s.Message, Transitions: s.Transitions, Results: s.ValidationResults, Events: summarizeEvents(events)}
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: u.GetNamespace(), Name: failureReportName(u.GroupVersionKind().Group, u.GetName(), s.Revision),
			Labels: map[string]string{LabelDeployment: deploymentLabel(u), LabelRevision: strconv.FormatInt(s.Revision, 10)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Name: u.GetName(), UID: u.GetUID(),
			}},
		},
		BinaryData: map[string][]byte{},
	}
	room := maxTreeBytes
	for _, t := range trees {
		packed, withheld := withoutSecrets(t.Files)
		if len(packed) > room {
			packed, withheld = nil, "the tree exceeds the size of the report: Git has it under its id"
		}
		if room -= len(packed); packed != nil {
			cm.BinaryData[t.Site+archive] = packed
		}
		content.Trees = append(content.Trees, treeSummary{Site: t.Site, Path: t.Path, Tree: t.Tree, Withheld: withheld})
	}
	text, err := content.encodeWithinLimit()
	cm.Data = map[string]string{summaryKey: text}
	return cm, err
}

// encodeWithinLimit encodes the summary, and shortens it until the text fits. It returns an error for a summary that cannot be shortened any more.
func (s *summary) encodeWithinLimit() (string, error) {
	for {
		b, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return "", errors.Wrap(err, "cannot encode report")
		}
		if len(b) <= maxSaidBytes {
			return string(b), nil
		}
		if !s.shortenSummary() {
			return "", errors.Errorf("cannot encode report: its reason has %d bytes", len(s.Reason))
		}
	}
}

// shortenSummary drops half of one part of the summary: of the oldest events, then of the results, the trees, the oldest transitions and the message. It returns
// false if none of these parts is left.
func (s *summary) shortenSummary() bool {
	switch {
	case len(s.Events) > 0:
		s.Events = s.Events[(len(s.Events)+1)/2:]
	case len(s.Results) > 0:
		s.Results = s.Results[:len(s.Results)/2]
	case len(s.Trees) > 0:
		s.Trees = s.Trees[:len(s.Trees)/2]
	case len(s.Transitions) > 0:
		s.Transitions = s.Transitions[(len(s.Transitions)+1)/2:]
	case s.Message != "":
		s.Message = strings.ToValidUTF8(s.Message[:len(s.Message)/2], "")
	default:
		return false
	}
	return true
}

// withoutSecrets returns a packed tree without Secrets: users who may read ConfigMaps need not be allowed to read Secrets.
func withoutSecrets(packed []byte) ([]byte, string) {
	files, err := tree.Decode(packed)
	if err != nil {
		return nil, "the tree is in Git under its id"
	}
	retained, withheld := policy.WithoutSecrets(files)
	if len(withheld) == 0 {
		return packed, ""
	}
	packed, err = tree.Encode(retained)
	if err != nil {
		packed = nil
	}
	return packed, "files with Secrets: " + strings.Join(withheld, ", ")
}

func summarizeEvents(events []corev1.Event) []eventSummary {
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	var out []eventSummary
	for _, e := range events[max(0, len(events)-maxEvents):] {
		out = append(out, eventSummary{At: e.LastTimestamp, Type: e.Type, Reason: e.Reason, Message: e.Message})
	}
	return out
}

// failureReportName returns the name of a report.
func failureReportName(group, deployment string, revision int64) string {
	return revisionobject.Name(group, deployment, "failed", revision)
}

func deploymentLabel(u *unstructured.Unstructured) string {
	return revisionobject.DeploymentDigest(u.GroupVersionKind().Group, u.GetName())
}
