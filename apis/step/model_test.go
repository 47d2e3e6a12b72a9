package step

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/intentplane/intentplane/apis/ledger"
)

// The model is a deployment whose function, provider, repositories and Sites are reduced to the subjects of the ledger: proposals, records,
// views and losses. model_faults_test.go has the faults, and model_story_test.go the stories.

// modelSites are the Sites of the model: each belongs to the repository of its index, and the last repository has two.
var modelSites = []string{"edge1", "edge2", "edge3", "edge4"}

// A modelRepository is the content of a Git server for the deployment.
type modelRepository struct {
	Reachable bool
	// Ledger is the zero value where there is none.
	Ledger ledger.State
	Record modelRecord
}

// A modelRecord is the record of every repository: its position, its trees, and a copy of the ledger.
type modelRecord struct {
	Position ledger.Position
	Copy     ledger.State
	// Trees are the numbers of the revisions whose trees lie in the directories of Sites.
	Trees map[string]int64
}

// A modelDelivery is a GitDelivery.
type modelDelivery struct {
	Exists bool
	// Position and Copy are the request to the repository.
	Position ledger.Position
	Copy     ledger.State
	// IsHome, After and Events are the events to record in the home.
	IsHome bool
	After  ledger.Head
	Events []ledger.Event
	// Observed says that the provider read the repository. Ledger and Record are its observed state.
	Observed bool
	Ledger   ledger.State
	Record   modelRecord
	// Mandate is the mandate of the home, and Echo the revision of which the provider says that it rejects it and rolls it back by itself. 0 means none.
	Mandate modelMandate
	Echo    int64
}

// A modelMandate is for one revision. Intent is the intent of the spec that it follows from.
type modelMandate struct {
	Ledger          string
	Epoch, Revision int64
	Intent          string
}

func mandateOf(s ledger.State) modelMandate {
	if s.Current == nil {
		return modelMandate{}
	}
	return modelMandate{Ledger: s.Ledger, Epoch: s.Epoch, Revision: s.Current.Number}
}

// mandates lists the kinds of events that a mandate of the model has.
var mandates = []Kind{KindReject, KindRollBack, KindRequest}

// lists is true for an event that the provider of the model may record. The claim has to have the intent of the mandate for an event that
// goes forward; its steps need files that only the function renders.
func (m modelMandate) lists(s ledger.State, e ledger.Event, intent string) bool {
	kind := KindOf(s, e)
	return slices.Contains(mandates, kind) || kind == KindVerify && m.Intent == intent
}

// covers is true for a mandate for the current revision of a state, or for the revision that a user rolled back by it.
func (m modelMandate) covers(s ledger.State) bool {
	isOwn := s.Current != nil && (m.Revision == s.Current.Number || m.Revision > 0 && m.Revision == s.Withdraws)
	return isOwn && m.Ledger == s.Ledger && m.Epoch == s.Epoch
}

// A modelSync is the SiteSync.
type modelSync struct {
	Position ledger.Position
	Copy     ledger.State
	// Proven is the position that Live and Failed speak about.
	Proven ledger.Position
	Live   bool
	Failed bool
}

// A modelCluster is the content of the API server.
type modelCluster struct {
	Deliveries []modelDelivery
	Sync       modelSync
	// Requests of users that were not taken yet.
	Requests []Request
}

// A model is the whole world of one deployment.
type model struct {
	rules        modelRules
	random       *rand.Rand
	repositories []modelRepository
	// backups are former states of repositories.
	backups []modelRepository
	cluster modelCluster
	// before are versions of the cluster that a cache may still show.
	before []modelCluster
	// running are the numbers of the revisions that Sites run, and stuck the Sites that take no other one.
	running map[string]int64
	stuck   map[string]bool
	intent  string
	// silent is for how many of its turns the function is not called.
	silent int
	// honours says that the provider records the next events by mandates.
	honours bool
	opened  int
	uids    int
	truth   modelTruth
}

// modelRules are the rules of the design. A mutant lacks one.
type modelRules struct {
	// CompareAndSwap refuses events that follow another head.
	CompareAndSwap bool
	// HomeFirst asks followers for recorded states, and not for proposed ones.
	HomeFirst bool
	// Recover continues from a newer copy.
	Recover bool
	// ReportMissing distinguishes a missing ledger from an unknown one.
	ReportMissing bool
	// Identity distinguishes two ledgers of one epoch.
	Identity bool
	// Echo leaves to the provider only the kinds of events in its status.
	Echo bool
	// Proven lets the provider judge a position by observations of that position.
	Proven bool
	// Shown lets followers go by the recorded state in the status of the home, and not by its possible next events.
	Shown bool
}

var allRules = modelRules{CompareAndSwap: true, HomeFirst: true, Recover: true, ReportMissing: true, Identity: true, Echo: true, Proven: true, Shown: true}

// isBad is true for an intent whose revisions fail their Gate: that of each step, or that of the last one.
func isBad(intent string) bool { return intent == "x" || intent == "y" }

// failsNow is true for a bad revision at a step whose Gate it fails.
func failsNow(s ledger.State) bool {
	intent := s.Current.Request.Intent
	return s.Cursor.Attempt == 0 && isBad(intent) && (intent == "x" || s.IsAtLastStep())
}

func (m *model) configRef(i int) string { return fmt.Sprintf("repository-%d", i) }

func (m *model) indexOf(home string) int {
	for i := range m.repositories {
		if m.configRef(i) == home {
			return i
		}
	}
	return 0
}

// sitesOf returns the Sites that a repository delivers to.
func (m *model) sitesOf(i int) []string {
	last := len(m.repositories) - 1
	if i < last {
		return modelSites[i : i+1]
	}
	return modelSites[last : last+2]
}

// desired is the request of the spec: the first Site alone, and then all others.
func (m *model) desired() *Desired {
	d := &Desired{Request: ledger.Request{Intent: m.intent, Sources: "s", Scheme: 1, Renderer: 1}}
	for i := range m.repositories {
		d.Parts = append(d.Parts, ledger.Part{Delivery: m.configRef(i), ConfigRef: m.configRef(i), Sites: m.sitesOf(i)})
	}
	all := modelSites[:len(m.repositories)+1]
	d.Plan = []ledger.Step{{Sites: all[:1]}, {Sites: all[1:]}}
	return d
}

// wanted returns the revision whose trees a Site has in a state. It is 0 where the Site keeps its trees.
func wanted(s ledger.State, site string) int64 {
	if s.Current == nil {
		return 0
	}
	if s.Cursor.Attempt > 0 {
		return s.Target
	}
	for i, step := range s.Current.Plan {
		if slices.Contains(step.Sites, site) && i <= int(s.Cursor.Step) && !s.IsRejected() {
			return s.Current.Number
		}
	}
	return 0
}
