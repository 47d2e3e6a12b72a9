package state

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// deliveredRecord returns the record of a delivery to one Site.
func deliveredRecord() RecordFile {
	return RecordFile{Header: Header{Claim: claimOfLedger, ClusterUID: "cluster-1"}, LastNumber: 9}
}

// deliveryOf returns a delivery of the state of a ledger.
func deliveryOf(s ledger.State, isHome bool) Delivery {
	tree := Tree{Branch: "main", DeliveredTree: deliveryv1alpha1.DeliveredTree{Site: "edge1", Path: "p", Tree: strings.Repeat("a", 40), Revision: 3}}
	return Delivery{Applied: s, IsHome: isHome, Commit: strings.Repeat("c", 40), Trees: []Tree{tree}, At: at(1)}
}

// attemptAt is an attempt as a record has it, which began at a time.
func attemptAt(began string) map[string]any {
	return map[string]any{"revision": 1, "number": 0, "step": 0, "startedAt": began}
}

// TestRecordFile reads records of a home and of a follower back.
func TestRecordFile(t *testing.T) {
	s := newLedger(t, 3, 2).State
	for name, isHome := range map[string]bool{"Home": true, "Follower": false} {
		t.Run(name, func(t *testing.T) {
			r := deliveredRecord().After(deliveryOf(s, isHome))
			b, err := r.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodeRecord(b)
			if err != nil {
				t.Fatal(err)
			}
			r.Format, r.MinReader = format, minReader
			if diff := cmp.Diff(r, got, cmpopts.IgnoreUnexported(Header{})); diff != "" {
				t.Errorf("\nA decoded record has the encoded content.\nDecodeRecord(...): -want, +got:\n%s", diff)
			}
			if got.Head != s.Head || got.Position != s.Position() || got.Home != "platform" || got.LastNumber != 0 || (got.Copy == nil) != isHome {
				t.Errorf("\nA record has the position of its ledger, and a follower's record has a copy.\nRecord(...): got %+v", got)
			}
		})
	}
}

// TestRecordFileUnknownFields writes back the fields of a newer version.
func TestRecordFileUnknownFields(t *testing.T) {
	s := newLedger(t, 1, 1).State
	b, err := deliveredRecord().After(deliveryOf(s, false)).Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]any{}
	if err := json.Unmarshal(b, &stored); err != nil {
		t.Fatal(err)
	}
	stored["later"] = "record"
	stored["copy"].(map[string]any)["later"] = "copy"
	if b, err = json.Marshal(stored); err != nil {
		t.Fatal(err)
	}
	r, err := DecodeRecord(b)
	if err != nil {
		t.Fatal(err)
	}
	b, err = r.After(deliveryOf(newLedger(t, 2, 1).State, false)).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(b); !strings.Contains(got, `"later": "record"`) || !strings.Contains(got, `"later": "copy"`) {
		t.Errorf("\nFields that are not known are written back.\nEncode(): got\n%s", got)
	}
}

// TestTombstoneOfRecord keeps the numbers of a copy.
func TestTombstoneOfRecord(t *testing.T) {
	s := newLedger(t, 3, 2).State
	got := deliveredRecord().After(deliveryOf(s, false)).Tombstone()
	want := RecordFile{
		Header: Header{Claim: claimOfLedger, ClusterUID: "cluster-1"}, Deleted: true,
		LedgerRecord: deliveryv1alpha1.LedgerRecord{
			Home: "platform", Head: s.Head, Position: s.Position(), Copy: &ledger.State{Head: s.Head, Home: "platform", LastNumber: 3},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Header{})); diff != "" {
		t.Errorf("\nA tombstone has the position of the ledger, and its numbers.\nTombstone(): -want, +got:\n%s", diff)
	}
	if _, err := got.Encode(); err != nil {
		t.Errorf("\nA tombstone can be encoded.\nEncode(): %v", err)
	}
}

// TestNoteTargets marks the rollback targets of the ledger in a history.
func TestNoteTargets(t *testing.T) {
	s := newLedger(t, 2, 1).State
	got := noteTargets([]deliveryv1alpha1.HistoryEntry{{Revision: 1}, {Revision: 7}}, s)
	if !got[0].IsTarget || got[1].IsTarget {
		t.Errorf("\nA revision is a target if the ledger says so, and a revision that the ledger does not have is not.\nnoteTargets(...): got %+v", got)
	}
}

// TestRecordRetainsStable records many revisions of a follower, which learns the verified revisions from a copy of the
// ledger only.
func TestRecordRetainsStable(t *testing.T) {
	s := newLedger(t, 1, 1).State
	r := deliveredRecord()
	for n := range int64(14) {
		applied := stateAt(n + 1)
		applied.History = s.History
		if s.Stable == n+1 {
			applied.Verdict = s.Verdict
		}
		d := deliveryOf(applied, false)
		d.Trees[0].Tree = fmt.Sprintf("%040d", n+1)
		r = r.After(d)
	}
	if named := r.TreeIDs(); len(named) != maxRevisions+1 || named[0] != fmt.Sprintf("%040d", 1) {
		t.Errorf("\nThe trees of the stable revision are retained however old it is.\nNamed(): got %d, the first one %s", len(named), named[0])
	}
}

// TestDecodeRecord refuses records that no status can show.
func TestDecodeRecord(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(map[string]any)
		want   string
	}{
		"BelowZero": {
			reason: "A position below zero is refused.",
			change: func(r map[string]any) { r["position"].(map[string]any)["step"] = -1 }, want: "position.step is below 0",
		},
		"LongHead": {
			reason: "A head that no status can show is refused.",
			change: func(r map[string]any) { r["head"].(map[string]any)["ledger"] = strings.Repeat("x", 129) },
			want:   "head.ledger has more than 128 characters",
		},
		"LongCopy": {
			reason: "A copy that no status can show is refused.",
			change: func(r map[string]any) { r["copy"].(map[string]any)["home"] = strings.Repeat("x", 269) },
			want:   "copy.home has more than 268 characters",
		},
		"BeyondPlan": {
			reason: "A copy at a step that its plan does not have is refused.",
			change: func(r map[string]any) { r["copy"].(map[string]any)["cursor"].(map[string]any)["step"] = 19 }, want: "copy: cursor.step is 19",
		},
		"OldAttempt": {
			reason: "An attempt from before Git is refused.",
			change: func(r map[string]any) { r["attempt"] = attemptAt("1969-12-31T23:59:59Z") },
			want:   "attempt.startedAt is not from the years 1970 to 9999",
		},
		"FarAttempt": {
			reason: "An attempt that no date can be written of in UTC is refused.",
			change: func(r map[string]any) { r["attempt"] = attemptAt("9999-12-31T23:30:00-01:00") },
			want:   "attempt.startedAt is not from the years 1970 to 9999",
		},
		"LongPath": {
			reason: "A directory that no status can show is refused.",
			change: func(r map[string]any) { r["trees"].([]any)[0].(map[string]any)["path"] = strings.Repeat("x", 701) },
			want:   "trees[0].path has more than 700 characters",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, err := deliveredRecord().After(deliveryOf(newLedger(t, 1, 1).State, false)).Encode()
			if err != nil {
				t.Fatal(err)
			}
			stored := map[string]any{}
			if err := json.Unmarshal(b, &stored); err != nil {
				t.Fatal(err)
			}
			tc.change(stored)
			if b, err = json.Marshal(stored); err != nil {
				t.Fatal(err)
			}
			if _, err := DecodeRecord(b); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nDecodeRecord(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestCheckDates looks at the first and the last moment that a record may have.
func TestCheckDates(t *testing.T) {
	for _, moment := range []time.Time{time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)} {
		r := RecordFile{CommitTime: new(metav1.NewTime(moment))}
		if err := r.checkCommitDates(); err != nil {
			t.Errorf("\nA date of the years in which Git has commits is taken.\ncheckDates(): %s: %v", moment, err)
		}
	}
}
