// All programs of a cluster in one binary, selected by the name under which it is called. One binary links once and
// shares its code on disk and in memory.
package main

import (
	goflag "flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// The flags that the main package of each original program sets up before its command runs.
type flagSetup struct {
	normalizesNames bool
	takesGoFlags    bool
}

type program struct {
	newCommand func() *cobra.Command
	flags      flagSetup
}

var programs = map[string]program{
	"kube-apiserver":          {apiserver.NewAPIServerCommand, flagSetup{}},
	"kube-controller-manager": {controllers.NewControllerManagerCommand, flagSetup{}},
	"kube-scheduler":          {func() *cobra.Command { return scheduler.NewSchedulerCommand() }, flagSetup{normalizesNames: true}},
	"kubelet":                 {kubelet.NewKubeletCommand, flagSetup{}},
	"kube-proxy":              {proxy.NewProxyCommand, flagSetup{normalizesNames: true, takesGoFlags: true}},
	"kubectl":                 {kubectl.NewDefaultKubectlCommand, flagSetup{normalizesNames: true, takesGoFlags: true}},
}

func main() {
	rand.Seed(time.Now().UnixNano())
	name := filepath.Base(os.Args[0])
	selected, isKnown := programs[name]
	if !isKnown {
		fmt.Fprintf(os.Stderr, "%s is not a program of Kubernetes; call this binary by the name of one\n", name)
		os.Exit(2)
	}
	command := selected.newCommand()
	if selected.flags.normalizesNames {
		pflag.CommandLine.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	}
	if selected.flags.takesGoFlags {
		pflag.CommandLine.AddGoFlagSet(goflag.CommandLine)
	}
	logs.InitLogs()
	defer logs.FlushLogs()
	if err := command.Execute(); err != nil {
		os.Exit(1)
	}
}
