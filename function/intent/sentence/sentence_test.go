package sentence

import (
	"fmt"
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
				Service: "shop", Sites: []string{"edge1", "edge2", "edge3"}, UnquotedSites: []string{"edge1", "edge2", "edge3"},
				SiteReplicas: map[string]string{"edge1": "3", "edge2": "3", "edge3": "1"},
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
			fault:  refusedWord(15, "our"),
		},
		"NounAlone": {
			reason: "A noun is a name in quotes alone, and the fault says so.",
			text:   "deploy my app on edge1 with 2 replicas",
			fault:  refusedNoun(10, "app"),
		},
		"NounAtEnd": {
			reason: "A noun at the end of the text is not a name either.",
			text:   "deploy my app",
			fault:  refusedNoun(10, "app"),
		},
		"NounInQuotes": {
			reason: "A noun in quotes is a name.",
			text:   `deploy my "app" on edge1`,
			wish:   &Statement{Service: "app", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"PossessiveAlone": {
			reason: "A possessive without a noun is a name in quotes alone, and the fault says so.",
			text:   "deploy my on edge1",
			fault:  refusedNoun(7, "my"),
		},
		"ArticleAtEnd": {
			reason: "An article at the end of the text is not a name either.",
			text:   "deploy the",
			fault:  refusedNoun(7, "the"),
		},
		"ArticleBeforeComma": {
			reason: "An article before a mark is not a name either.",
			text:   "deploy an, 2 replicas",
			fault:  refusedNoun(7, "an"),
		},
		"PossessiveOfReplicas": {
			reason: "A possessive whose replicas are counted is not a name either.",
			text:   "run 3 replicas of our on edge1",
			fault:  refusedNoun(18, "our"),
		},
		"PronounForService": {
			reason: "A pronoun names no service.",
			text:   "deploy it on edge1",
			fault:  refusedWord(7, "it"),
		},
		"AppsForService": {
			reason: "A noun in the plural names no service.",
			text:   "deploy our apps on edge1",
			fault:  refusedWord(11, "apps"),
		},
		"ServicesForService": {
			reason: "A noun in the plural names no service.",
			text:   "deploy our services on edge1",
			fault:  refusedWord(11, "services"),
		},
		"ApplicationsForService": {
			reason: "A noun in the plural names no service.",
			text:   "deploy our applications on edge1",
			fault:  refusedWord(11, "applications"),
		},
		"ContainersForService": {
			reason: "A noun in the plural names no service.",
			text:   "deploy our containers on edge1",
			fault:  refusedWord(11, "containers"),
		},
		"WorkloadAlone": {
			reason: "A workload is a noun, as an application is.",
			text:   "deploy my workload on edge1",
			fault:  refusedNoun(10, "workload"),
		},
		"MicroserviceAlone": {
			reason: "A microservice is a noun, as a service is.",
			text:   "deploy my microservice on edge1",
			fault:  refusedNoun(10, "microservice"),
		},
		"AdjectiveForService": {
			reason: "An adjective before a noun names no service.",
			text:   "deploy my new app on edge1",
			fault:  refusedNoun(14, "app"),
		},
		"AdjectivesForService": {
			reason: "Several adjectives before a noun name no service.",
			text:   "deploy the latest simple service on edge1",
			fault:  refusedNoun(25, "service"),
		},
		"AdjectiveBeforePlural": {
			reason: "An adjective before a noun in the plural names no service.",
			text:   "deploy the existing apps on edge1",
			fault:  refusedWord(20, "apps"),
		},
		"YourselfForService": {
			reason: "A compound pronoun names no service.",
			text:   "deploy yourself on edge1",
			fault:  refusedWord(7, "yourself"),
		},
		"HimselfForService": {
			reason: "A compound pronoun names no service.",
			text:   "deploy himself on edge1",
			fault:  refusedWord(7, "himself"),
		},
		"ThemselvesForService": {
			reason: "A compound pronoun names no service.",
			text:   "deploy themselves on edge1",
			fault:  refusedWord(7, "themselves"),
		},
		"OurselvesForService": {
			reason: "A compound pronoun names no service.",
			text:   "deploy ourselves on edge1",
			fault:  refusedWord(7, "ourselves"),
		},
		"WhicheverForService": {
			reason: "A compound pronoun names no service.",
			text:   "deploy whichever on edge1",
			fault:  refusedWord(7, "whichever"),
		},
		"SomebodyForService": {
			reason: "A compound pronoun names no service.",
			text:   "deploy somebody on edge1",
			fault:  refusedWord(7, "somebody"),
		},
		"EverybodyForService": {
			reason: "A compound pronoun names no service.",
			text:   "deploy everybody on edge1",
			fault:  refusedWord(7, "everybody"),
		},
		"AnybodyForService": {
			reason: "A compound pronoun names no service.",
			text:   "deploy anybody on edge1",
			fault:  refusedWord(7, "anybody"),
		},
		"WhoeverForService": {
			reason: "A compound pronoun names no service.",
			text:   "deploy whoever on edge1",
			fault:  refusedWord(7, "whoever"),
		},
		"AdjectiveAsService": {
			reason: "An adjective without a noun names no service, and the hint quotes it.",
			text:   `deploy latest on edge1`,
			fault:  refusedNoun(7, "latest"),
		},
		"AdjectiveBeforeName": {
			reason: "An adjective right before a name may select another version, so that it is refused.",
			text:   `deploy previous shop on edge1`,
			fault:  refusedWord(7, "previous"),
		},
		"AdjectiveForSite": {
			reason: "An adjective names no Site.",
			text:   `deploy shop on primary`,
			fault:  refusedWord(15, "primary"),
		},
		"AdjectiveInSites": {
			reason: "An adjective in a list of Sites names none.",
			text:   `deploy shop on edge1 and secondary`,
			fault:  &Fault{Offset: 25, Length: 9, Message: `"secondary" is not understood here`},
		},
		"NamedAdjective": {
			reason: "An adjective that is said to be a name needs its quotes too.",
			text:   `deploy a service called simple on edge1`,
			fault:  refusedWord(24, "simple"),
		},
		"QuotedAdjectives": {
			reason: "Adjectives in quotes are names of services and Sites.",
			text:   `deploy "latest" on "primary" and 'shared'`,
			wish:   &Statement{Service: "latest", Sites: []string{"primary", "shared"}},
		},
		"AdjectiveBeforeMark": {
			reason: "An adjective before a mark is not a name either.",
			text:   `deploy stable, 2 replicas`,
			fault:  refusedNoun(7, "stable"),
		},
		"AdjectiveForType": {
			reason: "An adjective may be a type.",
			text:   `deploy shop of type generic on edge1`,
			wish:   &Statement{Service: "shop", Type: "generic", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"AdjectiveForEndpoint": {
			reason: "An adjective may be the name of an endpoint.",
			text:   `deploy shop on edge1, port 8080 as public`,
			wish: &Statement{
				Service: "shop", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}, Endpoints: []Endpoint{{Name: "public", Port: "8080"}},
			},
		},
		"NounForEndpoint": {
			reason: "A noun is not the name of an endpoint.",
			text:   `deploy shop, port 8080 as service`,
			fault:  refusedWord(26, "service"),
		},
		"LotsForService": {
			reason: "A word for many names no service.",
			text:   "deploy lots on edge1",
			fault:  refusedWord(7, "lots"),
		},
		"BunchForService": {
			reason: "A word for some of them names no service.",
			text:   "deploy bunch on edge1",
			fault:  refusedWord(7, "bunch"),
		},
		"AforementionedForService": {
			reason: "A word that points back names no service.",
			text:   "deploy aforementioned on edge1",
			fault:  refusedWord(7, "aforementioned"),
		},
		"GentlyForService": {
			reason: "An adverb of manner names no service.",
			text:   "deploy gently on edge1",
			fault:  refusedWord(7, "gently"),
		},
		"PackageForService": {
			reason: "A noun for what is delivered names no service.",
			text:   "deploy package on edge1",
			fault:  refusedWord(7, "package"),
		},
		"FillerForService": {
			reason: "A filler names no service.",
			text:   "deploy btw on edge1",
			fault:  refusedWord(7, "btw"),
		},
		"IncludingForService": {
			reason: "A preposition that adds names no service.",
			text:   "deploy including on edge1",
			fault:  refusedWord(7, "including"),
		},
		"BunchWithArticle": {
			reason: "An article before such a word does not make it a name.",
			text:   "deploy a bunch on edge1",
			fault:  refusedWord(9, "bunch"),
		},
		"LotsForSite": {
			reason: "A word for many names no Site.",
			text:   "deploy shop across lots",
			fault:  refusedWord(19, "lots"),
		},
		"UpdatedForService": {
			reason: "An adjective that says how a service changed names nothing.",
			text:   "deploy the updated app on edge1",
			fault:  refusedNoun(19, "app"),
		},
		"DefaultForService": {
			reason: "An adjective that selects one of several services names nothing.",
			text:   "deploy our default internal service on edge1",
			fault:  refusedNoun(28, "service"),
		},
		"AdjectiveBehindArticle": {
			reason: "An adjective behind an article is not a name without a noun.",
			text:   "deploy the latest on edge1",
			fault:  refusedNoun(11, "latest"),
		},
		"AdjectiveBehindPossessiveAtEnd": {
			reason: "An adjective behind a possessive at the end of the text is not a name either.",
			text:   "deploy my new",
			fault:  refusedNoun(10, "new"),
		},
		"AdjectiveOfReplicas": {
			reason: "An adjective behind an article whose replicas are counted is not a name.",
			text:   "run 3 replicas of the main on edge1",
			fault:  refusedNoun(22, "main"),
		},
		"SoftwareForService": {
			reason: "A noun for all software names no service.",
			text:   "deploy my software on edge1",
			fault:  refusedWord(10, "software"),
		},
		"VersionForService": {
			reason: "A noun that stands for each state of a service names none.",
			text:   "deploy the latest version on edge1",
			fault:  refusedWord(18, "version"),
		},
		"CodeForService": {
			reason: "A noun for all programs names no service.",
			text:   "deploy my code on edge1",
			fault:  refusedWord(10, "code"),
		},
		"QuotedRelease": {
			reason: "Such a noun in quotes is a name.",
			text:   `deploy "release" on edge1`,
			wish:   &Statement{Service: "release", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"RestForService": {
			reason: "A word for all others names no service.",
			text:   "deploy the rest on edge1",
			fault:  refusedWord(11, "rest"),
		},
		"KindlyForService": {
			reason: "A polite word names no service.",
			text:   "deploy kindly on edge1",
			fault:  refusedWord(7, "kindly"),
		},
		"ThanksForSite": {
			reason: "A polite word names no Site.",
			text:   "deploy shop on edge1 and thanks",
			fault:  &Fault{Offset: 25, Length: 6, Message: `"thanks" is not understood here`},
		},
		"ThanksForImage": {
			reason: "A polite word names no image.",
			text:   "deploy shop with image thanks",
			fault:  refusedImage(23, "thanks"),
		},
		"ReallyForService": {
			reason: "An adverb that stresses names no service.",
			text:   "deploy really on edge1",
			fault:  refusedWord(7, "really"),
		},
		"LaterForSite": {
			reason: "An adverb of time in a list of Sites names no Site.",
			text:   "deploy shop on edge1 and later",
			fault:  &Fault{Offset: 25, Length: 5, Message: `"later" is not understood here`},
		},
		"LikeForSite": {
			reason: "A preposition names no Site.",
			text:   "deploy shop on like",
			fault:  refusedWord(15, "like"),
		},
		"NounOfSite": {
			reason: "The noun of a Site is not a name by itself, and the hint quotes it.",
			text:   "deploy shop on my site with 2 replicas",
			fault:  refusedNoun(18, "site"),
		},
		"NounOfSiteAtEnd": {
			reason: "The noun of Sites at the end of the text is not a name either.",
			text:   "deploy shop at our sites",
			fault:  refusedNoun(19, "sites"),
		},
		"QuotedNounOfSite": {
			reason: "The noun of a Site in quotes is the name of one.",
			text:   `deploy shop on "site"`,
			wish:   &Statement{Service: "shop", Sites: []string{"site"}},
		},
		"MainAsService": {
			reason: "An adjective that many give to branches names no service either.",
			text:   "deploy main on edge1",
			fault:  refusedNoun(7, "main"),
		},
		"AdjectiveInQuotes": {
			reason: "An adjective in quotes is a name.",
			text:   `deploy "new" app on edge1`,
			wish:   &Statement{Service: "new", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"AdjectiveBeforeNounAndName": {
			reason: "Adjectives and a noun may stand before a name.",
			text:   `deploy my new app shop on edge1`,
			wish:   &Statement{Service: "shop", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"WorkloadWithName": {
			reason: "A workload may have a name.",
			text:   `deploy the workload shop on edge1`,
			wish:   &Statement{Service: "shop", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"TypeNoun": {
			reason: "A noun that is no service may be a type.",
			text:   `deploy shop of type container on edge1`,
			wish:   &Statement{Service: "shop", Type: "container", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"NameBeforeNoun": {
			reason: "A name may stand before a noun.",
			text:   `deploy hello app on edge1`,
			wish:   &Statement{Service: "hello", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"AdjectiveOfSlice": {
			reason: "An adjective before a slice names no service.",
			text:   "create a new eMBB slice on edge1",
			wish:   &Statement{Service: "embb-slice", Class: "eMBB", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"AdverbForSite": {
			reason: "An adverb names no Site.",
			text:   "deploy shop on edge1 and everywhere",
			fault:  &Fault{Offset: 25, Length: 10, Message: `"everywhere" is not understood here`},
		},
		"WordForImage": {
			reason: "A word of the grammar is not an image.",
			text:   "deploy shop with the image on edge1",
			fault:  refusedImage(27, "on"),
		},
		"QuotedImage": {
			reason: "An image may have a word of the grammar as its name, in quotes.",
			text:   `deploy shop with our image "app" on edge1`,
			wish:   &Statement{Service: "shop", Image: "app", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"AdjectiveForImage": {
			reason: "An adjective names no image, and a tag alone neither.",
			text:   "deploy shop on edge1 with image latest",
			fault:  refusedImage(32, "latest"),
		},
		"ArticleForImage": {
			reason: "An article behind the noun names no image.",
			text:   "deploy shop on edge1, image the nginx",
			fault:  refusedImage(28, "the"),
		},
		"NumberForImage": {
			reason: "A version alone names no image.",
			text:   "deploy shop with image 1.27",
			fault:  refusedImage(23, "1.27"),
		},
		"ReleaseForImage": {
			reason: "A version of three numbers names no image either.",
			text:   "deploy shop with image 1.27.3",
			fault:  refusedImage(23, "1.27.3"),
		},
		"SuffixForImage": {
			reason: "A version may have a suffix.",
			text:   "deploy shop with image 1.27-alpine on edge1",
			fault:  refusedImage(23, "1.27-alpine"),
		},
		"TagForImage": {
			reason: "A version may begin with a letter.",
			text:   "deploy shop, image v2",
			fault:  refusedImage(19, "v2"),
		},
		"NumberedImage": {
			reason: "A name may begin as a version does.",
			text:   "deploy shop with image v2-api on edge1",
			wish:   &Statement{Service: "shop", Image: "v2-api", Sites: []string{"edge1"}, UnquotedSites: []string{"edge1"}},
		},
		"QuotedVersionForImage": {
			reason: "A version in quotes is the name of an image.",
			text:   `deploy shop with image "1.27.3"`,
			wish:   &Statement{Service: "shop", Image: "1.27.3"},
		},
		"QuotedNumberForImage": {
			reason: "A number in quotes is the name of an image.",
			text:   `deploy shop with image "2048"`,
			wish:   &Statement{Service: "shop", Image: "2048"},
		},
		"ImageOfAdjective": {
			reason: "An image may begin with an adjective.",
			text:   "deploy shop with image new/shop:1",
			wish:   &Statement{Service: "shop", Image: "new/shop:1"},
		},
		"AdverbForService": {
			reason: "An adverb names no service.",
			text:   "deploy immediately on edge1",
			fault:  refusedWord(7, "immediately"),
		},
		"AdverbInTime": {
			reason: "A word of time names no service.",
			text:   "Deploy today on edge1",
			fault:  refusedWord(7, "today"),
		},
		"OnceForSite": {
			reason: "An adverb behind a word for a place names no Site.",
			text:   "deploy shop at once",
			fault:  refusedWord(15, "once"),
		},
		"ElsewhereForSite": {
			reason: "An adverb in a list of Sites names no Site.",
			text:   "deploy shop on edge1 and elsewhere",
			fault:  &Fault{Offset: 25, Length: 9, Message: `"elsewhere" is not understood here`},
		},
		"OwnerNoun": {
			reason: "A noun behind a number of replicas is not a name either.",
			text:   "run 3 replicas of my app on edge1",
			fault:  refusedNoun(21, "app"),
		},
		"NamedNoun": {
			reason: "A noun that is said to be a name needs its quotes too.",
			text:   "deploy a service called app on edge1",
			fault:  refusedWord(24, "app"),
		},
		"NounForSite": {
			reason: "A Site that is called as a noun needs quotes.",
			text:   "deploy shop on app",
			fault:  refusedWord(15, "app"),
		},
		"QuotedNounsForSites": {
			reason: "Sites may have words of the grammar as their names, in quotes.",
			text:   `deploy shop on "app", "the" and 'on'`,
			wish:   &Statement{Service: "shop", Sites: []string{"app", "the", "on"}},
		},
		"ArticleForSite": {
			reason: "An article names no Site.",
			text:   "deploy shop on the",
			fault:  refusedWord(15, "the"),
		},
		"PossessiveEnding": {
			reason: "An apostrophe stands around no name.",
			text:   "deploy ada's shop on edge1",
			fault:  &Fault{Offset: 7, Length: 5, Message: `has quotes that do not stand around one name, such as "edge1"`},
		},
		"TypographicQuotes": {
			reason: "Quotes that editors write are named, with the quotes that are allowed.",
			text:   "deploy \u201capp\u201d on edge1",
			fault:  &Fault{Offset: 7, Length: 3, Message: `must not have the character U+201C: use the quotes of ASCII around a name, such as "edge1"`},
		},
		"Guillemets": {
			reason: "Other languages have quotes of their own.",
			text:   "deploy \u00abapp\u00bb on edge1",
			fault:  &Fault{Offset: 7, Length: 2, Message: `must not have the character U+00AB: use the quotes of ASCII around a name, such as "edge1"`},
		},
		"GermanQuotes": {
			reason: "Quotes may stand low.",
			text:   "deploy \u201eapp\u201c on edge1",
			fault:  &Fault{Offset: 7, Length: 3, Message: `must not have the character U+201E: use the quotes of ASCII around a name, such as "edge1"`},
		},
		"CornerBrackets": {
			reason: "Quotes may be brackets.",
			text:   "deploy \u300capp\u300d on edge1",
			fault:  &Fault{Offset: 7, Length: 3, Message: `must not have the character U+300C: use the quotes of ASCII around a name, such as "edge1"`},
		},
		"NoBreakSpace": {
			reason: "A space of another kind is named.",
			text:   "deploy shop\u00a0on edge1",
			fault:  &Fault{Offset: 11, Length: 2, Message: "must not have the character U+00A0: use the space of ASCII"},
		},
		"IdeographicComma": {
			reason: "A comma of another language is refused.",
			text:   "deploy shop on edge1\u3001edge2",
			fault:  &Fault{Offset: 20, Length: 3, Message: "must not have the character U+3001: only characters of ASCII are allowed"},
		},
		"Exclamation": {
			reason: "A mark that the grammar does not have is refused.",
			text:   "deploy shop on edge1!",
			fault: &Fault{
				Offset: 20, Length: 1, Message: `must not have the character '!': plain language has none, and JSON begins with a brace`,
			},
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

// refusedWord returns the fault of a word of the grammar in the place of a name.
func refusedWord(offset int, word string) *Fault {
	message := fmt.Sprintf("%q cannot be a name: it is a word of the grammar, or a number; if it is the name, quote it: %q", word, word)
	return &Fault{Offset: offset, Length: len(word), Message: message}
}

// refusedImage returns the fault of a word that names no image.
func refusedImage(offset int, word string) *Fault {
	message := fmt.Sprintf("%q is not an image by itself; if it is the name of one, quote it: %q", word, word)
	return &Fault{Offset: offset, Length: len(word), Message: message}
}

// refusedNoun returns the fault of a noun without a name.
func refusedNoun(offset int, word string) *Fault {
	message := fmt.Sprintf("%q is not a name by itself: it is a word of the grammar; if it is the name, quote it: %q", word, word)
	return &Fault{Offset: offset, Length: len(word), Message: message}
}
