package notification

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ops, developers = ReceiverID("ClusterProviderConfig/default/ops"), ReceiverID("ClusterProviderConfig/default/developers")

// TestSee lets a receiver be missing for a moment, and for long.
func TestSee(t *testing.T) {
	b := &Book{}
	steps := []struct {
		reason  string
		after   time.Duration
		present []ReceiverID
		want    map[ReceiverID]time.Duration
		again   time.Duration
	}{
		{
			reason:  "Receivers are there from when they are seen first.",
			present: []ReceiverID{ops, developers}, want: map[ReceiverID]time.Duration{ops: 0, developers: 0},
		},
		{
			reason: "A receiver that is missing is kept for a while.",
			after:  time.Minute, present: []ReceiverID{ops}, want: map[ReceiverID]time.Duration{ops: 0, developers: 0}, again: Absence,
		},
		{
			reason: "A receiver that comes back soon is the same receiver.",
			after:  time.Minute, present: []ReceiverID{ops, developers}, want: map[ReceiverID]time.Duration{ops: 0, developers: 0},
		},
		{reason: "A receiver may be missing again, together with the other receiver.", want: map[ReceiverID]time.Duration{ops: 0, developers: 0}, again: Absence},
		{reason: "Receivers that are missing for long are forgotten.", after: Absence, want: map[ReceiverID]time.Duration{}},
		{
			reason:  "A receiver that comes back after that is a new receiver.",
			present: []ReceiverID{ops}, want: map[ReceiverID]time.Duration{ops: 2*time.Minute + Absence},
		},
		{reason: "A receiver that came back may be missing once more.", want: map[ReceiverID]time.Duration{ops: 2*time.Minute + Absence}, again: Absence},
		{
			reason: "A receiver without an observation for that time is a new receiver, too.",
			after:  Absence, present: []ReceiverID{ops}, want: map[ReceiverID]time.Duration{ops: 2*time.Minute + 2*Absence},
		},
		{
			reason: "A clock that was ahead does not let a receiver wait for that time.",
			after:  -Absence, present: []ReceiverID{ops}, want: map[ReceiverID]time.Duration{ops: 2*time.Minute + Absence},
		},
		{
			reason: "The receiver is missing by a clock that is ahead.",
			after:  5 * Absence, want: map[ReceiverID]time.Duration{ops: 2*time.Minute + Absence}, again: Absence,
		},
		{
			reason: "A receiver is not kept for longer because of a clock that was ahead.",
			after:  -5 * Absence, want: map[ReceiverID]time.Duration{ops: 2*time.Minute + Absence}, again: Absence,
		},
	}
	now := clock()
	for _, step := range steps {
		now = now.Add(step.after)
		if _, delay := b.See(step.present, now); delay != step.again {
			t.Errorf("\n%s\nSee(...): want the next look in %s, got %s", step.reason, step.again, delay)
		}
		got := map[ReceiverID]time.Duration{}
		for r, p := range b.Receivers {
			got[r] = time.Unix(p.Since, 0).Sub(clock())
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("\n%s\nSee(...): -want, +got:\n%s", step.reason, diff)
		}
		if changed, _ := b.See(step.present, now); changed {
			t.Errorf("\n%s\nSee(...): the same look again changes the book", step.reason)
		}
	}
}

// TestReceiversAreBounded sees more receivers than a ConfigMap holds, with the longest names that they can have.
func TestReceiversAreBounded(t *testing.T) {
	b, present := &Book{}, []ReceiverID{}
	for i := range 20_000 {
		present = append(present, ReceiverID(fmt.Sprintf("ProviderConfig/%0253d/%063d", i, i)))
	}
	b.See(present[:maxReceivers-1], clock())
	b.See(present, clock().Add(time.Minute))
	if diff := cmp.Diff(maxReceivers, len(b.Receivers)); diff != "" {
		t.Errorf("\nA book has a number of receivers.\nSee(...): receivers -want, +got:\n%s", diff)
	}
	if b.Receivers[present[0]].Since != clock().Unix() {
		t.Error("\nA receiver that was there keeps its place.\nSee(...): want its earlier time")
	}
	if changed, _ := b.See(present, clock().Add(2*time.Minute)); changed {
		t.Error("\nReceivers without a place change nothing.\nSee(...): want no change")
	}
	b.See(nil, clock().Add(3*time.Minute))
	if text, err := b.Encode(); err != nil || len(text) > maxBytes {
		t.Errorf("\nA full book fits, also while all of its receivers are missing.\nEncode(): %d bytes, %v", len(text), err)
	}
	b.See(present[maxReceivers:], clock().Add(3*time.Minute+Absence))
	b.See(present[maxReceivers:], clock().Add(4*time.Minute+Absence))
	if _, isKnown := b.Receivers[present[maxReceivers]]; !isKnown {
		t.Error("\nThe places of receivers that went are free.\nSee(...): want the next receivers")
	}
}

// TestHasMoved remembers the configuration of a deployment.
func TestHasMoved(t *testing.T) {
	b, config, otherConfig := &Book{}, Config{Kind: "ClusterProviderConfig", Name: "one"}, Config{Kind: "ClusterProviderConfig", Name: "other"}
	b.Set("intentplane.dev/u1", ops, Mark{Index: 5})
	if b.HasMoved("intentplane.dev/u1", config) {
		t.Error("HasMoved(...): a deployment had no configuration before the first look")
	}
	if !b.SetConfig("intentplane.dev/u1", config) || b.SetConfig("intentplane.dev/u1", config) {
		t.Error("SetConfig(...): want a change the first time alone")
	}
	if b.HasMoved("intentplane.dev/u1", config) || !b.HasMoved("intentplane.dev/u1", otherConfig) {
		t.Error("HasMoved(...): want true for another configuration alone")
	}
	if diff := cmp.Diff(Entry{Config: "ClusterProviderConfig/one", Marks: Marks{ops: {Index: 5}}}, b.Deployments["intentplane.dev/u1"]); diff != "" {
		t.Errorf("entry: -want, +got:\n%s", diff)
	}
}

// TestMarkOf reads the marks of a permanent receiver, and of a receiver that was removed and comes back.
func TestMarkOf(t *testing.T) {
	b, want := &Book{}, Mark{Index: 5, At: clock().Unix(), ID: "1.1.Succeeded"}
	b.Set("intentplane.dev/u1", ops, want)
	if diff := cmp.Diff(&want, b.MarkOf("intentplane.dev/u1", ops, clock())); diff != "" {
		t.Errorf("MarkOf(...): -want, +got:\n%s", diff)
	}
	late := Mark{At: clock().Unix(), Set: clock().Add(time.Minute).Unix()}
	b.Set("intentplane.dev/u3", ops, late)
	if diff := cmp.Diff(&late, b.MarkOf("intentplane.dev/u3", ops, clock().Add(time.Second))); diff != "" {
		t.Errorf("MarkOf(...): a mark of an earlier outcome counts that was set since the receiver is there: -want, +got:\n%s", diff)
	}
	for reason, got := range map[string]*Mark{
		"A mark of an earlier receiver with the name does not count.":     b.MarkOf("intentplane.dev/u1", ops, clock().Add(time.Second)),
		"Another receiver has no mark.":                                   b.MarkOf("intentplane.dev/u1", developers, clock()),
		"A deployment that was created again under its name has no mark.": b.MarkOf("intentplane.dev/u2", ops, clock()),
		"A deployment of the other shape with the same name has no mark.": b.MarkOf("claims.intentplane.dev/u1", ops, clock()),
	} {
		if got != nil {
			t.Errorf("\n%s\nMarkOf(...): %v", reason, got)
		}
	}
}

func TestKeep(t *testing.T) {
	b := &Book{}
	for _, uid := range []string{"u1", "u2"} {
		b.Set(DeploymentID("intentplane.dev/"+uid), ops, Mark{Index: 5})
		b.Set(DeploymentID("claims.intentplane.dev/"+uid), developers, Mark{Index: 5})
	}
	b.Set("intentplane.dev/u1", developers, Mark{Index: 5})
	exists := func(d DeploymentID) bool { return d != "intentplane.dev/u2" }
	if changed := b.Keep(exists, []ReceiverID{ops}); !changed {
		t.Error("Keep(...): want a change")
	}
	if diff := cmp.Diff(map[DeploymentID]Entry{"intentplane.dev/u1": {Marks: Marks{ops: {Index: 5}}}, "claims.intentplane.dev/u1": {Marks: Marks{}}, "claims.intentplane.dev/u2": {Marks: Marks{}}}, b.Deployments); diff != "" {
		t.Errorf("Keep(...): -want, +got:\n%s", diff)
	}
	b.Keep(exists, nil)
	if !b.IsEmpty() {
		t.Errorf("Keep(...): marks of receivers that are gone are left: %v", b.Deployments)
	}
	deployment, otherDeployment := Deployment{APIVersion: "intentplane.dev/v1alpha1", UID: "u1"}, Deployment{APIVersion: "claims.intentplane.dev/v1alpha1", UID: "u1"}
	if deployment.ID() != "intentplane.dev/u1" || otherDeployment.ID() != "claims.intentplane.dev/u1" {
		t.Errorf("ID(): %s and %s", deployment.ID(), otherDeployment.ID())
	}
}

// TestBookIsBounded marks more deployments than a ConfigMap holds: the book forgets the deployments whose last outcome is oldest, and their outcomes
// stay posted.
func TestBookIsBounded(t *testing.T) {
	b := &Book{}
	const deployments = 20_000
	for i := range deployments {
		b.Set(DeploymentID(fmt.Sprintf("intentplane.dev/5f1c0c2e-8a4f-4b7e-9d57-%012d", i)), ops, Mark{Index: 5, At: int64(i), ID: "1.1.Succeeded"})
	}
	text, err := b.Encode()
	if err != nil || len(text) > maxBytes {
		t.Fatalf("Encode(): %d bytes, %v", len(text), err)
	}
	back, err := DecodeBook(text)
	if err != nil {
		t.Fatal(err)
	}
	retained := len(back.Deployments)
	if retained < deployments/4 || back.Floor != int64(deployments-retained) {
		t.Errorf("Encode(): %d deployments are kept, and the floor is %d", retained, back.Floor)
	}
	if _, err := DecodeBook("{"); err == nil {
		t.Error("DecodeBook(...): want an error for a text that is cut off")
	}
}
