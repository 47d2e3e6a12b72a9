package state

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestDecodeLimits decodes a forged record: it fits no status, so that the provider could report nothing about it.
func TestDecodeLimits(t *testing.T) {
	long := strings.Repeat("x", 1000)
	cases := map[string]struct {
		reason string
		forge  func(e *RecordFile)
		err    string
	}{
		"Fits": {reason: "Characters are counted and not bytes.", forge: func(e *RecordFile) { e.Trees[0].Site = strings.Repeat("é", 63) }},
		"OldDate": {
			reason: "A date before Git existed is refused.",
			forge:  func(e *RecordFile) { e.CommitTime = new(metav1.NewTime(at(0).AddDate(-100, 0, 0))) },
			err:    "commitTime is not from the years 1970 to 9999",
		},
		"Kind": {
			reason: "The kind of a claim has a limit, since messages name it.",
			forge:  func(e *RecordFile) { e.Claim.Kind = long }, err: "claim.kind has more than 63 characters",
		},
		"Cluster": {
			reason: "The UID of a cluster has a limit, since messages name it.",
			forge:  func(e *RecordFile) { e.ClusterUID = long }, err: "clusterUID has more than 64 characters",
		},
		"Commit": {reason: "A commit has the length of a Git ID.", forge: func(e *RecordFile) { e.Commit = long }, err: "commit has more than 40 characters"},
		"Base":   {reason: "The base of a commit has a length.", forge: func(e *RecordFile) { e.Base = long }, err: "base has more than 40 characters"},
		"TreePath": {
			reason: "The path of a tree has a limit.",
			forge:  func(e *RecordFile) { e.Trees[0].Path = long }, err: "trees[0].path has more than 700 characters",
		},
		"TreeSite": {
			reason: "The name of a tree's Site has a length.",
			forge:  func(e *RecordFile) { e.Trees[0].Site = long }, err: "trees[0].site has more than 63 characters",
		},
		"TreeBranch": {
			reason: "The branch of a tree has a length.",
			forge:  func(e *RecordFile) { e.Trees[0].Branch = long }, err: "trees[0].branch has more than 200 characters",
		},
		"TreeID": {
			reason: "The id of a tree has a length.",
			forge:  func(e *RecordFile) { e.Trees[0].Tree = long }, err: "trees[0].tree has more than 40 characters",
		},
		"HistoryCommit": {
			reason: "The commit of a past revision has a length.",
			forge:  func(e *RecordFile) { e.Revisions[0].Commit = long }, err: "revisions[0].commit has more than 40 characters",
		},
		"HistorySite": {
			reason: "The Site of a past tree has a length.",
			forge:  func(e *RecordFile) { e.Revisions[0].Trees[0].Site = long }, err: "revisions[0].trees[0].site has more than 63 characters",
		},
		"HistoryTree": {
			reason: "The id of a past tree has a length.",
			forge:  func(e *RecordFile) { e.Revisions[0].Trees[0].Tree = long }, err: "revisions[0].trees[0].tree has more than 40 characters",
		},
		"Directories": {
			reason: "The directories of a claim are limited, with the directories that it left.",
			forge:  func(e *RecordFile) { e.Trees = make([]Tree, 2001) }, err: "trees has more than 2000 items",
		},
		"NoDate": {
			reason: "An attempt without a date is refused.",
			forge:  func(e *RecordFile) { e.Attempt.StartedAt = metav1.Time{} }, err: "attempt.startedAt is empty",
		},
		"BadDate": {
			reason: "A year with five digits is refused.",
			forge:  func(e *RecordFile) { e.CommitTime = new(metav1.NewTime(at(0).AddDate(7973, 2, 0))) }, err: "malformed",
		},
		"TooManyTrees": {
			reason: "The number of trees of a revision has a limit.",
			forge:  func(e *RecordFile) { e.Revisions[0].Trees = make([]deliveryv1alpha1.HistoryTree, 501) },
			err:    "revisions[0].trees has more than 500 items",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := entry()
			tc.forge(&e)
			if _, err := e.Encode(); (err == nil) != (tc.err == "") {
				t.Errorf("\n%s\nEncode(): want an error for an undecodable record, got %v", tc.reason, err)
			}
			e.Format, e.MinReader = format, minReader
			content, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			_, err = DecodeRecord(content)
			message := ""
			if err != nil {
				message = strings.TrimPrefix(strings.TrimPrefix(err.Error(), "cannot decode state: "), "it is ")
			}
			if diff := cmp.Diff(tc.err, message); diff != "" {
				t.Errorf("\n%s\nDecode(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestKnownTexts checks a text of which the schema knows one value.
func TestKnownTexts(t *testing.T) {
	s := schema{Enum: []extv1.JSON{{Raw: []byte(`"main"`)}}}
	if err := checkTextValue(s, "branch", "main"); err != nil {
		t.Errorf("\nA text that the schema knows is read.\ncheckText(...): got %v", err)
	}
	if err := checkTextValue(s, "branch", "other"); err == nil || err.Error() != "branch is not known" {
		t.Errorf("\nA text that the schema does not know is refused.\ncheckText(...): got %v", err)
	}
}

// TestHostileList decodes a list of as many items as there is room for, each of which is wrong.
func TestHostileList(t *testing.T) {
	forged := `{"format":2,"minReader":2,"claim":{"apiGroup":"intentplane.dev","kind":"IntentDeployment","namespace":"a","name":"a"},"clusterUID":"x","head":{"epoch":1,"seq":1},"position":{"epoch":1,"revision":1,"attempt":0,"step":0,"stage":0},"trees":[` + strings.TrimSuffix(strings.Repeat("{},", (maxBytes-400)/3), ",") + `]}`
	if _, err := DecodeRecord([]byte(forged)); err == nil || !strings.Contains(err.Error(), "trees has more than 2000 items") {
		t.Errorf("\nA list of too many items is refused before any of them is checked.\nDecodeRecord(...): got %v", err)
	}
}

// BenchmarkDecodeLedger measures how long it takes to decode and check a ledger of 500 Sites.
func BenchmarkDecodeLedger(b *testing.B) {
	content := encode(b, newLedger(b, 40, ledger.MaxSites))
	for b.Loop() {
		if _, err := DecodeLedger(content); err != nil {
			b.Fatal(err)
		}
	}
}

// TestErrorsOfNumbersAreShort checks a number of a megabyte.
func TestErrorsOfNumbersAreShort(t *testing.T) {
	err := checkNumber(schema{}, "format", json.Number(strings.Repeat("9", 1<<20)))
	if diff := cmp.Diff("format is out of range", err.Error()); diff != "" {
		t.Errorf("\nAn error about a forged file does not repeat the file.\ncheckNumber(...): -want, +got:\n%.500s", diff)
	}
}
