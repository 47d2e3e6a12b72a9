package analysis

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// argoJob is a Job of Argo Rollouts, as far as a script can be made of it.
type argoJob struct {
	Metadata any `json:"metadata"`
	Spec     struct {
		ActiveDeadlineSeconds int64 `json:"activeDeadlineSeconds"`

		// What follows has its own rule in a check: it runs once, and the cluster removes it after a day.
		BackoffLimit            *int32 `json:"backoffLimit"`
		TTLSecondsAfterFinished any    `json:"ttlSecondsAfterFinished"`

		Template struct {
			Metadata any `json:"metadata"`
			Spec     struct {
				ServiceAccountName string          `json:"serviceAccountName"`
				RestartPolicy      string          `json:"restartPolicy"`
				Containers         []argoContainer `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type argoContainer struct {
	Name            string   `json:"name"`
	Image           string   `json:"image"`
	ImagePullPolicy string   `json:"imagePullPolicy"`
	Command         []string `json:"command"`
	Args            []string `json:"args"`
	Resources       any      `json:"resources"`
	Env             []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
}

func (c *converter) convertJob(path string, m argoMetric, check deploymentv1alpha1.Check, values map[string]string) {
	j, at := m.Provider.Job, path+".provider.job.spec"
	c.refuseJobRules(path, m, check)
	pod := at + ".template.spec"
	if n := len(j.Spec.Template.Spec.Containers); n != 1 {
		c.refusef(pod+".containers", "a Job of a check has one container, and not %d", n)
		return
	}
	container, containerPath := j.Spec.Template.Spec.Containers[0], pod+".containers[0]"
	check.Type, check.Interval, check.FailureLimit = typeJob, "", nil
	check.Job = &deploymentv1alpha1.JobCheck{
		Image:              c.fill(containerPath+".image", container.Image, values),
		Script:             c.script(containerPath, container, values),
		ServiceAccountName: c.fill(pod+".serviceAccountName", j.Spec.Template.Spec.ServiceAccountName, values),
	}
	if s := j.Spec.ActiveDeadlineSeconds; s > 0 {
		check.Timeout = durationText(c.duration(at+".activeDeadlineSeconds", fmt.Sprintf("%ds", s)))
	}
	c.noteJobFields(at, j, containerPath, container)
	c.out.Checks = append(c.out.Checks, check)
}

// refuseJobRules refuses what a Job that runs once has no use for.
func (c *converter) refuseJobRules(path string, m argoMetric, check deploymentv1alpha1.Check) {
	if check.Count != nil && *check.Count != 1 {
		c.refusef(path+".count", "a Job of a check runs once, and not %d times", *check.Count)
	}
	if check.FailureLimit != nil && *check.FailureLimit > 0 {
		c.refusef(path+".failureLimit", "a Job of a check runs once, so that it may not fail")
	}
	if m.SuccessCondition != "" || m.FailureCondition != "" {
		c.refusef(path+".successCondition", "the exit code of a Job decides")
	}
}

func (c *converter) noteJobFields(at string, j *argoJob, containerPath string, container argoContainer) {
	if j.Spec.BackoffLimit == nil || *j.Spec.BackoffLimit > 0 {
		c.addNotef(at+".backoffLimit", "the Job of a check is not retried")
	}
	if container.Resources != nil {
		c.addNotef(containerPath+".resources", "the Job of a check has 0.5 CPU and 256 MiB")
	}
}

// variableName is what a shell takes for the name of a variable.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// script returns a shell script that does what a container does. Each exit code but 0 fails the check, as it fails a Job.
func (c *converter) script(path string, container argoContainer, values map[string]string) string {
	var lines []string
	for i, e := range container.Env {
		at := fmt.Sprintf("%s.env[%d]", path, i)
		if !variableName.MatchString(e.Name) {
			c.refusef(at+".name", "%q cannot be the name of a variable of a script", e.Name)
		}
		lines = append(lines, "export "+e.Name+"="+quoteForShell(c.fill(at+".value", e.Value, values)))
	}
	if len(container.Command) == 0 {
		c.refusef(path+".command", "is absent, and only the image has its entry point: name it")
		return ""
	}
	words := slices.Concat(container.Command, container.Args)
	for i, word := range words {
		words[i] = c.fill(path+".command", word, values)
	}
	return strings.Join(append(lines, "(", shellCommand(words), ") || exit 3"), "\n") + "\n"
}

// shellCommand returns what runs the words of a command.
func shellCommand(words []string) string {
	isShell := slices.Contains([]string{"sh", "/bin/sh"}, words[0])
	if isShell && len(words) == 3 && words[1] == "-c" {
		return strings.TrimRight(words[2], "\n")
	}
	quoted := make([]string, 0, len(words))
	for _, word := range words {
		quoted = append(quoted, quoteForShell(word))
	}
	return strings.Join(quoted, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

func quoteForShell(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
