package ledger

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// The model is a deployment whose function, provider, repositories and Sites are reduced to what the ledger is about: who proposes, who records,
// what each of them saw, and what is lost. model_faults_test.go has what happens to it, and model_story_test.go tells stories.

// modelSites are the Sites of the model: each belongs to the repository of its index, and the last repository has two.
var modelSites = []string{"edge1", "edge2", "edge3", "edge4"}

// A modelRepository is what a Git server holds of the deployment.
type modelRepository struct {
	Reachable bool
	// Ledger is the zero value where there is none.
	Ledger State
	Record modelRecord
}

// A modelRecord is what every repository records: how far it is, what it delivers, and a copy of the ledger.
type modelRecord struct {
	Position Position
	Copy     State
	// Trees are the numbers of the revisions whose trees lie in the directories of Sites.
	Trees map[string]int64
}

// A modelDelivery is a GitDelivery.
type modelDelivery struct {
	Exists bool
	// Position and Copy are what the repository is asked for.
	Position Position
	Copy     State
	// IsHome, After and Events are what the home is asked to record.
	IsHome bool
	After  Head
	Events []Event
	// Observed says that the provider looked at the repository. Ledger and Record are what it saw.
	Observed bool
	Ledger   State
	Record   modelRecord
}

// A modelSync is the SiteSync.
type modelSync struct {
	Position Position
	Copy     State
	// Proven is the position that Live and Failed speak about.
	Proven Position
	Live   bool
	Failed bool
}

// A cluster is what the API server holds.
type modelCluster struct {
	Deliveries []modelDelivery
	Sync       modelSync
	// Requests of users that were not taken yet.
	Requests []modelRequest
}

// A modelRequest is a RolloutRequest.
type modelRequest struct {
	UID  string
	Verb string
	Home int
}

// A model is the whole world of one deployment.
type model struct {
	rules        modelRules
	random       *rand.Rand
	repositories []modelRepository
	// backups are what repositories were at some time.
	backups []modelRepository
	cluster modelCluster
	// before are versions of the cluster that a cache may still show.
	before []modelCluster
	// running are the numbers of the revisions that Sites run, and stuck the Sites that take no other one.
	running map[string]int64
	stuck   map[string]bool
	intent  string
	opened  int
	uids    int
	truth   modelTruth
}

// modelRules are the rules of the design. A mutant lacks one.
type modelRules struct {
	// CompareAndSwap refuses events that follow another head.
	CompareAndSwap bool
	// HomeFirst asks followers for what is recorded, and not for what is proposed.
	HomeFirst bool
	// Recover continues from a newer copy.
	Recover bool
	// ReportMissing tells that there is no ledger from not knowing.
	ReportMissing bool
	// Identity tells two ledgers of one epoch apart.
	Identity bool
}

var allRules = modelRules{CompareAndSwap: true, HomeFirst: true, Recover: true, ReportMissing: true, Identity: true}

// isBad is true for an intent whose revisions fail their Gate.
func isBad(intent string) bool { return intent == "x" }

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

// revision returns the next revision of an intent: the first Site alone, and then all others.
func (m *model) revision(number int64, intent string) Revision {
	r := Revision{Number: number, Request: Request{Intent: intent, Sources: "s", Scheme: 1, Renderer: 1}}
	for i := range m.repositories {
		r.Parts = append(r.Parts, Part{Delivery: m.configRef(i), ConfigRef: m.configRef(i), Sites: m.sitesOf(i)})
	}
	all := modelSites[:len(m.repositories)+1]
	r.Plan = []Step{{Sites: all[:1]}, {Sites: all[1:]}}
	return r
}

// wanted returns the revision whose trees a Site has in a state. It is 0 where the Site keeps what it has.
func wanted(s State, site string) int64 {
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

// call is one call of the function, which sees a cluster that may be older than the one that it writes to. Only some of its writes may succeed.
func (m *model) call(seen modelCluster, writes func() bool) {
	home := m.homeOf(seen)
	d := seen.Deliveries[home]
	known := d.Observed && (d.Ledger.Seq > 0 || m.rules.ReportMissing)
	if !known {
		if writes() {
			m.cluster.Deliveries[home].Exists, m.cluster.Deliveries[home].IsHome = true, true
		}
		return
	}
	events, next := m.propose(seen, home)
	asked := d.Ledger
	if !m.rules.HomeFirst {
		asked = next
	}
	for i := range m.cluster.Deliveries {
		if !writes() {
			continue
		}
		o := &m.cluster.Deliveries[i]
		o.Exists, o.IsHome = true, i == home
		if i == home {
			o.After, o.Events = d.Ledger.Head, events
			continue
		}
		o.Position, o.Copy = asked.Position(), asked.Essentials()
	}
	if writes() {
		m.cluster.Sync.Position, m.cluster.Sync.Copy = d.Ledger.Position(), d.Ledger
	}
}

// homeOf returns the repository that holds the ledger: the one that the newest copy names, or the first one.
func (m *model) homeOf(seen modelCluster) int {
	newest := newestCopy(seen, State{})
	for _, r := range seen.Requests {
		if r.Verb == "ForceMove" && newest.Seq > 0 && !slices.Contains(newest.Requests, r.UID) {
			return r.Home
		}
	}
	return m.indexOf(cmp.Or(newest.Successor, newest.Home))
}

// propose returns the events that the function wants recorded, and the state after them.
func (m *model) propose(seen modelCluster, home int) ([]Event, State) {
	s := seen.Deliveries[home].Ledger
	events := m.recover(seen, home)
	next, err := Append(s, noon, events...)
	if err != nil {
		return nil, s
	}
	for range 4 {
		e, follows := m.step(next, seen)
		if !follows {
			break
		}
		after, err := Append(next, noon, e)
		if err != nil {
			break
		}
		next, events = after, append(events, e)
	}
	return events, next
}

// recover returns the events by which a ledger begins, or continues from a newer copy.
func (m *model) recover(seen modelCluster, home int) []Event {
	s := seen.Deliveries[home].Ledger
	var events []Event
	if s.Seq == 0 || s.Successor != "" {
		m.opened++
		identity := fmt.Sprintf("opened-%d", m.opened)
		if !m.rules.Identity {
			identity = "opened"
		}
		open := Event{Opened: &Opened{Ledger: identity, Home: m.configRef(home)}}
		next, err := Append(s, noon, open)
		if err != nil {
			return nil
		}
		s, events = next, []Event{open}
	}
	if newest := newestCopy(seen, s); m.rules.Recover && newest.Seq > 0 && newest.supersedes(s) {
		events = append(events, Event{Recovered: &Recovered{Copy: newest, RequestRef: forcedMove(seen, append(slices.Clone(newest.Requests), s.Requests...), home)}})
	}
	return events
}

// forcedMove returns the RolloutRequest that moves the ledger to a home although the one before may be gone. It is nil for one that was taken.
func forcedMove(seen modelCluster, taken []string, home int) *RequestReference {
	for _, r := range seen.Requests {
		if r.Verb == "ForceMove" && r.Home == home && !slices.Contains(taken, r.UID) {
			return new(asked(r.UID))
		}
	}
	return nil
}

// newestCopy returns the newest state that any repository has of a ledger other than s.
func newestCopy(seen modelCluster, s State) State {
	newest := State{}
	for _, d := range seen.Deliveries {
		for _, c := range []State{d.Ledger, d.Record.Copy} {
			if c.Head != s.Head && c.Compare(newest.Head) > 0 {
				newest = c
			}
		}
	}
	return newest
}
