package setup

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestNewEvent makes an event about a deployment: it is in its namespace, and its name follows from the key.
func TestNewEvent(t *testing.T) {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("intentplane.dev/v1alpha1")
	u.SetKind("IntentDeployment")
	u.SetNamespace("team-a")
	u.SetName("shop")
	u.SetUID("u1")
	timestamp := metav1.NewTime(time.Unix(1, 0))
	want := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "team-a", Name: "shop.0123"},
		InvolvedObject: corev1.ObjectReference{APIVersion: "intentplane.dev/v1alpha1", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop", UID: "u1"},
		Type:           corev1.EventTypeWarning, Reason: "Rejected", Message: "said", Source: corev1.EventSource{Component: "intentplane-provider"},
		ReportingController: "intentplane-provider", FirstTimestamp: timestamp, LastTimestamp: timestamp, Count: 1,
	}
	if diff := cmp.Diff(want, NewEvent(ReferenceTo(u), "0123", corev1.EventTypeWarning, "Rejected", "said", timestamp)); diff != "" {
		t.Errorf("NewEvent(...): -want, +got:\n%s", diff)
	}
}

// TestEventBounds makes events that the API server would refuse.
func TestEventBounds(t *testing.T) {
	long := strings.Repeat("a", 252)
	cases := map[string]struct {
		reason                string
		name, message         string
		wantName, wantMessage string
	}{
		"Short": {reason: "A short event stays as it is.", name: "shop", message: "said", wantName: "shop.0123", wantMessage: "said"},
		"Name":  {reason: "A long name is cut, and keeps its key.", name: long, message: "said", wantName: long[:248] + ".0123", wantMessage: "said"},
		"Dot": {
			reason: "A name that is cut behind a dot is still a name of DNS.", name: long[:246] + ".-b.c", message: "said",
			wantName: long[:246] + ".0123", wantMessage: "said",
		},
		"Message": {
			reason: "A long message is cut to 1,024 bytes.", name: "shop", message: strings.Repeat("word ", 300),
			wantName: "shop.0123", wantMessage: strings.Repeat("word ", 300)[:1021] + "…",
		},
		"Rune": {
			reason: "A cut message is UTF-8.", name: "shop", message: strings.Repeat("é", 600),
			wantName: "shop.0123", wantMessage: strings.Repeat("é", 510) + "…",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := NewEvent(corev1.ObjectReference{Name: tc.name}, "0123", corev1.EventTypeWarning, "Rejected", tc.message, metav1.Time{})
			if diff := cmp.Diff([]string{tc.wantName, tc.wantMessage}, []string{e.Name, e.Message}); diff != "" {
				t.Errorf("\n%s\nNewEvent(...): -want name and message, +got:\n%s", tc.reason, diff)
			}
			r := &messages{}
			boundedRecorder{r}.WithAnnotations("a", "b").Event(nil, event.Normal("Rejected", tc.message))
			if diff := cmp.Diff([]string{tc.wantMessage}, r.all); diff != "" {
				t.Errorf("\n%s\nEvent(...): -want message, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A messages has the messages of recorded events.
type messages struct {
	all []string
}

func (r *messages) Event(_ runtime.Object, e event.Event) { r.all = append(r.all, e.Message) }

func (r *messages) WithAnnotations(...string) event.Recorder { return r }
