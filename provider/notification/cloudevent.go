package notification

import (
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Types of events. CDEvents has types for deployments, upgrades and rollbacks, and none for failures: failures have a custom type, as
// CDEvents names them.
const (
	typeDeployed   = "dev.cdevents.service.deployed.0.3.0"
	typeUpgraded   = "dev.cdevents.service.upgraded.0.3.0"
	typeRolledBack = "dev.cdevents.service.rolledback.0.3.0"
	typeFailed     = "dev.cdeventsx.intentplane-service.failed.0.1.0"
)

const (
	cloudEventsVersion = "1.0"
	cdEventsVersion    = "0.5.1"

	contentTypeCloudEvent = "application/cloudevents+json"
	contentTypeJSON       = "application/json"
)

// A cloudEvent is one in structured mode: its id, type and time are a part of the body, so that a signature of the body covers them.
type cloudEvent struct {
	SpecVersion     string  `json:"specversion"`
	ID              string  `json:"id"`
	Source          string  `json:"source"`
	Type            string  `json:"type"`
	Subject         string  `json:"subject"`
	Time            string  `json:"time"`
	DataContentType string  `json:"datacontenttype"`
	Data            cdEvent `json:"data"`
}

type cdEvent struct {
	Context    cdContext  `json:"context"`
	Subject    cdSubject  `json:"subject"`
	CustomData customData `json:"customData"`
}

type cdContext struct {
	SpecVersion string `json:"specversion"`
	ID          string `json:"id"`
	Source      string `json:"source"`
	Type        string `json:"type"`
	Timestamp   string `json:"timestamp"`
}

type cdSubject struct {
	ID      string    `json:"id"`
	Source  string    `json:"source"`
	Content cdContent `json:"content"`
}

type cdContent struct {
	Environment cdReference `json:"environment"`
	ArtifactID  string      `json:"artifactId"` //nolint:tagliatelle // CDEvents' name.
}

type cdReference struct {
	ID string `json:"id"`
}

// customData has the facts for which CDEvents has no field.
type customData struct {
	Deployment   Deployment                 `json:"deployment"`
	Outcome      deploymentv1alpha1.Outcome `json:"outcome"`
	Epoch        int64                      `json:"epoch"`
	Revision     int64                      `json:"revision"`
	LiveRevision int64                      `json:"liveRevision,omitempty"`
	Reason       string                     `json:"reason,omitempty"`
	Message      string                     `json:"message,omitempty"`
	Commit       string                     `json:"commit,omitempty"`
	Sites        []string                   `json:"sites,omitempty"`
}

// newCloudEvent returns the body for an outcome. ControlPlane is the name of the installation.
func newCloudEvent(n *Notification, controlPlane string) ([]byte, error) {
	o, d := n.Outcome, n.Deployment
	source, subject, timestamp := "/intentplane/"+url.PathEscape(controlPlane), eventSubject(d), o.At.UTC().Format(time.RFC3339)
	e := cloudEvent{
		SpecVersion: cloudEventsVersion, ID: n.ID(), Source: source, Type: o.cloudEventType(), Subject: subject, Time: timestamp, DataContentType: contentTypeJSON,
		Data: cdEvent{
			Context: cdContext{SpecVersion: cdEventsVersion, ID: n.ID(), Source: source, Type: o.cloudEventType(), Timestamp: timestamp},
			Subject: cdSubject{ID: subject, Source: source, Content: cdContent{Environment: cdReference{ID: controlPlane}, ArtifactID: o.artifactPackageURL(d)}},
			CustomData: customData{
				Deployment: d, Outcome: o.Result, Epoch: o.Epoch, Revision: o.Revision, LiveRevision: o.LiveRevision,
				Reason: o.Reason, Message: o.Message, Commit: o.Commit, Sites: o.Sites,
			},
		},
	}
	b, err := json.Marshal(e)
	return b, errors.Wrap(err, "cannot encode event")
}

// eventSubject returns the name of a deployment among both shapes.
func eventSubject(d Deployment) string {
	gv, _ := schema.ParseGroupVersion(d.APIVersion) // An object that was read has a version that can be read.
	return gv.Group + "/" + d.Namespace + "/" + d.Name
}

// cloudEventType returns the type of the event for an outcome.
func (o Outcome) cloudEventType() string {
	switch {
	case o.Result == deploymentv1alpha1.OutcomeRolledBack:
		return typeRolledBack
	case o.Result == deploymentv1alpha1.OutcomeFailed:
		return typeFailed
	case o.IsFirst:
		return typeDeployed
	}
	return typeUpgraded
}

// artifactPackageURL is the package URL of the running revision after the outcome. After a rollback that is an earlier revision, where the status
// said which.
func (o Outcome) artifactPackageURL(d Deployment) string {
	revision := o.Revision
	if o.Result == deploymentv1alpha1.OutcomeRolledBack && o.LiveRevision > 0 {
		revision = o.LiveRevision
	}
	return fmt.Sprintf("pkg:generic/%s/%s@%d", d.Namespace, d.Name, revision)
}
