package sentence

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/intentplane/intentplane/apis/measure"
	"github.com/intentplane/intentplane/test/soak"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		wish   *Statement
		fault  *Fault
	}{
		"Everything": {
			reason: "Each clause says one thing.",
			text: "Deploy shop of type batch on edge1 with 3 replicas, 2 CPU and 4Gi each, image nginx:1.27, UDP port 53 as dns, " +
				"parameter color=blue, high priority, p99 latency under 0.5 s",
			wish: &Statement{
				Service: "shop", Type: "batch", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}, Replicas: "3", CPU: "2", Memory: "4Gi", Image: "nginx:1.27",
				Endpoints:  []Endpoint{{Name: "dns", Port: "53", Protocol: "UDP"}},
				Parameters: map[string]string{"color": "blue"}, Priority: "high",
				Objectives: []Objective{{Name: "latency_p99", Comparison: "<", Amount: measure.Amount{Value: "500", Unit: "ms"}}},
			},
		},
		"PerSite": {
			reason: "Several numbers of replicas belong to the Sites behind them.",
			text:   "Run 3 replicas of shop on edge1 and edge2 and 1 on edge3",
			wish: &Statement{
				Service: "shop", Sites: []string{"edge1", "edge2", "edge3"}, UnquotedSites: []string{"edge1", "edge2", "edge3"}, SiteReplicas: map[string]string{"edge1": "3", "edge2": "3", "edge3": "1"},
			},
		},
		"OtherVerb": {
			reason: "A verb behind a list of Sites is not taken for a Site.",
			text:   "Deploy shop on edge1 and add 3 replicas",
			fault:  &Fault{Offset: 25, Length: 3, Message: `"add" is not understood here`},
		},
		"Quoted": {
			reason: "A word in quotes is a name, also if it is a word of the grammar, and the Sites that have no quotes are listed apart.",
			text:   `Deploy 'shop' on "add", "later" and edge1, 3 replicas`,
			wish:   &Statement{Service: "shop", Sites: []string{"add", "later", "edge1"}, UnquotedSites: []string{"edge1"}, Replicas: "3"},
		},
		"QuotedWordForSites": {
			reason: "A word for several Sites is not the name of a Site in quotes either.",
			text:   `Deploy shop on "all"`,
			fault:  &Fault{Offset: 15, Length: 5, Message: `"all" cannot be a name: it is a word of the grammar, or a number`},
		},
		"QuotedNumber": {
			reason: "A number in quotes is not a number of replicas.",
			text:   `Deploy shop on edge1 with "3" replicas`,
			fault:  &Fault{Offset: 26, Length: 3, Message: `"3" is not understood here`},
		},
		"QuotedMark": {
			reason: "Quotes around anything but a name are refused.",
			text:   `Deploy shop "," on edge1`,
			fault:  &Fault{Offset: 12, Length: 3, Message: `has quotes that do not stand around one name, such as "edge1"`},
		},
		"OpenQuote": {
			reason: "A quote that does not end is refused.",
			text:   `Deploy shop on "edge1`,
			fault:  &Fault{Offset: 15, Length: 6, Message: `has quotes that do not stand around one name, such as "edge1"`},
		},
		"Possessive": {
			reason: "A word before a noun that says whose it is names nothing.",
			text:   "deploy our shop on edge1",
			wish:   &Statement{Service: "shop", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"PossessiveForSite": {
			reason: "A word that says whose a Site is may mean more than one of them.",
			text:   "deploy shop on our edge",
			fault:  &Fault{Offset: 15, Length: 3, Message: `"our" cannot be a name: it is a word of the grammar, or a number; if it is the name, quote it: "our"`},
		},
		"NounAlone": {
			reason: "A noun is a name in quotes alone, and the fault says so.",
			text:   "deploy my app on edge1 with 2 replicas",
			fault:  &Fault{Offset: 10, Length: 3, Message: `"app" is not a name by itself: it is a word of the grammar; if it is the name, quote it: "app"`},
		},
		"NounAtEnd": {
			reason: "A noun at the end of the text is not a name either.",
			text:   "deploy my app",
			fault:  &Fault{Offset: 10, Length: 3, Message: `"app" is not a name by itself: it is a word of the grammar; if it is the name, quote it: "app"`},
		},
		"NounInQuotes": {
			reason: "A noun in quotes is a name.",
			text:   `deploy my "app" on edge1`,
			wish:   &Statement{Service: "app", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"PronounForService": {
			reason: "A pronoun names no service.",
			text:   "deploy it on edge1",
			fault:  &Fault{Offset: 7, Length: 2, Message: `"it" cannot be a name: it is a word of the grammar, or a number; if it is the name, quote it: "it"`},
		},
		"AdverbForSite": {
			reason: "An adverb names no Site.",
			text:   "deploy shop on edge1 and everywhere",
			fault:  &Fault{Offset: 25, Length: 10, Message: `"everywhere" is not understood here`},
		},
		"WordForImage": {
			reason: "A word of the grammar is not an image.",
			text:   "deploy shop with the image on edge1",
			fault:  &Fault{Offset: 27, Length: 2, Message: `"on" cannot be a name: it is a word of the grammar, or a number; if it is the name, quote it: "on"`},
		},
		"QuotedImage": {
			reason: "An image may have a word of the grammar as its name, in quotes.",
			text:   `deploy shop with our image "app" on edge1`,
			wish:   &Statement{Service: "shop", Image: "app", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"Strange": {
			reason: "The fault is where the word is, in bytes.",
			text:   "Deploy shop quickly",
			fault:  &Fault{Offset: 12, Length: 7, Message: `"quickly" is not understood here`},
		},
		"Nothing": {
			reason: "A text without words is refused.",
			text:   "\n",
			fault:  &Fault{Message: "says nothing"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, fault := Parse(tc.text)
			if diff := cmp.Diff(tc.fault, fault); diff != "" {
				t.Errorf("\n%s\nParse(...): -want fault, +got fault:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.wish, got, cmpopts.IgnoreUnexported(Statement{})); diff != "" {
				t.Errorf("\n%s\nParse(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFault(t *testing.T) {
	w, _ := Parse("Deploy shop on edge1 and edge2")
	cases := map[string]struct {
		reason string
		path   string
		want   *Fault
	}{
		"Exact":  {reason: "Words are found by their values.", path: "sites[1]", want: &Fault{Offset: 25, Length: 5, Message: "x"}},
		"Around": {reason: "The closest words around are taken.", path: "service.name", want: &Fault{Offset: 7, Length: 4, Message: "x"}},
		"None":   {reason: "A value that is absent has no position.", path: "image", want: &Fault{Message: "x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, w.Fault(tc.path, "x")); diff != "" {
				t.Errorf("\n%s\nFault(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"Deploy edge-analytics on edge1 and edge2 with 3 replicas, 2 CPU and 4Gi each, p99 latency under 500 ms",
		"eMBB slice at edge1, 200 Mbps down, under 20 ms", "run 3 replicas of shop on edge1 and 1 on edge2", "memory", "cpu of", "port", "on",
		"sites labelled a=b and", "SST", "image", "under", "twenty-one hundred", "with", "please", "service", "the", ". , ;", "as", "UDP port 1/2 as",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer soak.Input(t)()
		w, fault := Parse(text)
		if (w == nil) == (fault == nil) {
			t.Fatalf("Parse(%q): want a wish or a fault, got %v and %v", text, w, fault)
		}
		if fault != nil && (fault.Offset < 0 || fault.Length < 0 || fault.Offset+fault.Length > len(text)) {
			t.Errorf("Parse(%q): the fault is outside: %v", text, fault)
		}
	})
}
