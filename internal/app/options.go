// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/alecthomas/kingpin.v2"
	"k8s.io/utils/ptr"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// namespaceFile contains the namespace of the pod.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

const (
	defaultLeaseDuration = time.Minute

	// unattendedApplyDuration is the duration of the Lease during an apply for an instance without
	// --leader-election.
	unattendedApplyDuration = 5 * time.Minute
)

// Options of one instance. Their zero value is not usable: see ParseOptions.
type Options struct {
	Debug       bool
	LogEncoding string

	SyncInterval            time.Duration
	PollInterval            time.Duration
	PollJitter              time.Duration
	PollStateMetricInterval time.Duration
	Timeout                 time.Duration
	GCInterval              time.Duration
	ShutdownGrace           time.Duration
	MaxReconcileRate        int
	MaxApplies              int

	// LeaderElection says whether to hold a Lease. It is nil if the flag is not set.
	LeaderElection *bool
	LeaseNamespace string
	Lease          session.Timing
	ShardName      string
	ShardCatchAll  bool

	NoCrossNamespaceRefs bool
	ShardRange           string
	AssignShards         bool
	ShardGracePeriod     time.Duration
	AssignRate           int

	EnableManagementPolicies bool
	EnableChangeLogs         bool
	ChangeLogsSocketPath     string
	EnableSecretCache        bool

	CLI                    string
	CLIDir                 string
	MetricsBindAddress     string
	HealthProbeBindAddress string

	// Root of the working directories, from the environment variable XP_TF_DIR.
	Root string

	// Environ is the environment of this process, as KEY=VALUE.
	Environ []string

	// Shard is what this instance serves. HoldsLease says that it takes part in a leader election: without
	// --leader-election and without a shard, only if it has the right. Both are set by complete.
	Shard      shard.ID
	HoldsLease bool
}

// ParseOptions parses the arguments of the program of the supplied name. Flags take precedence
// over environment variables, and those over defaults. Usage and version are written to out.
func ParseOptions(name string, args []string, out io.Writer) (*Options, error) {
	o := &Options{Environ: os.Environ(), Root: "/tf"}
	if root, ok := os.LookupEnv("XP_TF_DIR"); ok {
		o.Root = root
	}

	if slices.Equal(args, []string{"version"}) || slices.Equal(args, []string{"help"}) {
		args = []string{"--" + args[0]}
	}

	app := o.program(name, out).app

	args, err := withoutBooleans(app, args)
	if err != nil {
		return nil, err
	}

	if _, err := app.Parse(args); err != nil {
		if strings.HasPrefix(err.Error(), "unexpected ") {
			return nil, errors.Errorf("%w: only flags are expected, such as --debug and --poll=10m", err)
		}

		return nil, err
	}

	return o, o.complete()
}

// program returns the program with its flags.
func (o *Options) program(name string, out io.Writer) *help {
	a := kingpin.New(filepath.Base(name), "Runs Terraform or OpenTofu for Crossplane. The command line takes precedence over the environment, and the environment over the default.").DefaultEnvars()
	a.UsageWriter(out)
	a.ErrorWriter(out)

	a.Version(Version())
	a.VersionFlag.NoEnvar()

	h := &help{app: a, sections: []section{{title: "Help"}}}
	a.HelpFlag.Short('h').NoEnvar().PreAction(func(*kingpin.ParseContext) error {
		a.UsageTemplate(h.template())

		return nil
	})
	o.addFlags(h)

	return h
}

func (o *Options) addFlags(h *help) {
	a := h.app
	duration := kind[time.Duration]{parse: time.ParseDuration, allowed: "a duration such as 90s, 10m or 1h30m", placeholder: "DURATION"}
	positiveDuration := duration.limited(func(d time.Duration) bool { return d > 0 }, "greater than 0")
	nonNegativeDuration := duration.limited(func(d time.Duration) bool { return d >= 0 }, "0 or greater")
	integer := kind[int]{parse: strconv.Atoi, allowed: "an integer", placeholder: "INTEGER"}
	positiveInteger := integer.limited(func(n int) bool { return n >= 1 }, "1 or greater")
	nonNegativeInteger := integer.limited(func(n int) bool { return n >= 0 }, "0 or greater")
	boolean := kind[bool]{parse: strconv.ParseBool, allowed: "true or false", noValue: true}

	h.begin("Shards")
	a.Flag("shard-name", "Serve the Workspaces of one shard: those with the label "+shard.LabelKey+"=NAME. Turns leader election on.").PlaceHolder("NAME").Envar("SHARD_NAME").StringVar(&o.ShardName)
	addFlag(a, boolean, "shard-catch-all", "Serve the Workspaces without the label "+shard.LabelKey+". Turns leader election on.", &o.ShardCatchAll).Envar("SHARD_CATCH_ALL").Default("false")
	a.Flag("shard-range", "Experimental: serve the range i/N (i from 0 to N-1) of the Workspaces without the label "+shard.LabelKey+". The API server selects them, and needs the feature gate ShardedListAndWatch. Turns leader election on.").PlaceHolder("i/N").Envar("SHARD_RANGE").StringVar(&o.ShardRange)
	addFlag(a, boolean, "assign-shards", "Take part in the election of the instance that assigns Workspaces without the label "+shard.LabelKey+" to the running shards.", &o.AssignShards).Envar("ASSIGN_SHARDS").Default("false")
	addFlag(a, nonNegativeDuration, "shard-grace-period", "How long a shard whose session has ended or expired keeps the Workspaces that were assigned to it.", &o.ShardGracePeriod).Default("1m")
	addFlag(a, positiveInteger, "assign-rate", "How many Workspaces are assigned or moved per second.", &o.AssignRate).Default("50")

	h.begin("Leases")
	addFlag(a, optional(boolean), "leader-election", "Hold a Lease, so that only one of several replicas is active. The default is true in a cluster, if the provider has the right to write Leases.", &o.LeaderElection).Short('l').Envar("LEADER_ELECTION")
	a.Flag("lease-namespace", "The namespace of the Leases. The default is the namespace of the pod.").PlaceHolder("NAMESPACE").Envar("POD_NAMESPACE").StringVar(&o.LeaseNamespace)
	addFlag(a, duration, "lease-duration", "The time since the last renewal of its session after which an instance counts as dead; whole seconds, at least 2. With the default and without --leader-election, 5m during an apply or destroy of an unsharded instance.", &o.Lease.Duration).Default("60s")
	addFlag(a, duration, "lease-renew-deadline", "How long an instance tries to renew its session before it interrupts its runs; at least one second, at most three quarters of --lease-duration.", &o.Lease.RenewDeadline).Default("40s")
	addFlag(a, duration, "lease-retry-period", "How often an instance renews its session and its Lease, or as a standby tries to take the Lease; at most half of --lease-renew-deadline.", &o.Lease.RetryPeriod).Default("2s")
	// This flag is for tests: an unsharded instance uses five minutes.
	addFlag(a, duration, "lease-apply-duration", "Duration of the session during an apply or destroy, if that is longer.", &o.Lease.ApplyDuration).Default("0s").Hidden().NoEnvar()

	h.begin("Workspaces")
	a.Flag("cli", "The program to run: terraform, tofu, or the absolute path of one. The default is terraform on PATH, else tofu.").PlaceHolder("PROGRAM").Envar("TERRAFORM_CLI").StringVar(&o.CLI)
	a.Flag("cli-dir", "A directory with further programs for Workspaces and ProviderConfigs that name one in the field cli, and a file SHA256SUMS.").PlaceHolder("PATH").Envar("TERRAFORM_CLI_DIR").StringVar(&o.CLIDir)
	addFlag(a, positiveDuration, "poll", "How often a Workspace that is up to date is planned.", &o.PollInterval).Default("10m")
	addFlag(a, nonNegativeDuration, "poll-jitter", "The maximum time by which a poll is earlier or later, at most a quarter of the interval.", &o.PollJitter).Default("1m")
	addFlag(a, positiveDuration, "timeout", "The time limit for all work of one reconcile, except requests to Kubernetes.", &o.Timeout).Default("20m")
	addFlag(a, positiveInteger, "max-reconcile-rate", "How many Workspaces of a kind are created, changed or deleted at the same time. There is one more worker for polls, unless --max-applies is lower.", &o.MaxReconcileRate).Default("1")
	addFlag(a, nonNegativeInteger, "max-applies", "A lower limit than --max-reconcile-rate for the Workspaces of a kind that are created, changed or deleted at the same time. The remaining workers only poll. 0 is the value of --max-reconcile-rate.", &o.MaxApplies).Default("0")
	addFlag(a, boolean, "enable-management-policies", "Honor spec.managementPolicies.", &o.EnableManagementPolicies).Default("true").Envar("ENABLE_MANAGEMENT_POLICIES")
	addFlag(a, boolean, "no-cross-namespace-refs", "Refuse namespaced Workspaces that refer to a Flux source in another namespace.", &o.NoCrossNamespaceRefs).Default("false")

	h.begin("Instance")
	addFlag(a, nonNegativeDuration, "shutdown-grace", "How long runs may continue after SIGTERM before they are interrupted.", &o.ShutdownGrace).Default("15s")
	addFlag(a, nonNegativeDuration, "gc-interval", "How often the provider deletes the working directories of deleted Workspaces, and secrets that killed runs have left. 0: only the secrets, once at start.", &o.GCInterval).Default("1h")
	addFlag(a, positiveDuration, "sync", "The resync interval of the cache. A resync reconciles ProviderConfigs, and no Workspaces.", &o.SyncInterval).Default("1h").Short('s')
	addFlag(a, boolean, "enable-secret-cache", "Read Secrets from a cache of all Secrets of the cluster. If false, read each Secret from the API server when it is needed.", &o.EnableSecretCache).Default("true").Envar("ENABLE_SECRET_CACHE")

	h.begin("Observability")
	a.Flag("metrics-bind-address", "The address of /metrics; 0 disables it.").PlaceHolder("ADDRESS").Default(":8080").StringVar(&o.MetricsBindAddress)
	a.Flag("health-probe-bind-address", "The address of /healthz and /readyz; 0 disables them.").PlaceHolder("ADDRESS").Default(":8081").StringVar(&o.HealthProbeBindAddress)
	addFlag(a, positiveDuration, "poll-state-metric", "How often the state metrics are updated.", &o.PollStateMetricInterval).Default("5s")
	addFlag(a, boolean, "enable-changelogs", "Send an entry to the change log service for every create, update and delete.", &o.EnableChangeLogs).Envar("ENABLE_CHANGE_LOGS").Default("false")
	a.Flag("changelogs-socket-path", "The Unix socket of that gRPC service.").PlaceHolder("PATH").Default("/var/run/changelogs/changelogs.sock").Envar("CHANGELOGS_SOCKET_PATH").StringVar(&o.ChangeLogsSocketPath)
	addFlag(a, oneOf("console", "json"), "log-encoding", "The format of the log: console or json.", &o.LogEncoding).Default("console")
	addFlag(a, boolean, "debug", "Log debug messages.", &o.Debug).Short('d').Default("false")
}

// complete completes the options, and validates those that depend on each other. Every error names
// the flag, its value and the allowed values.
func (o *Options) complete() error {
	if o.MaxApplies == 0 || o.MaxApplies > o.MaxReconcileRate {
		o.MaxApplies = o.MaxReconcileRate
	}

	if err := o.completeShard(); err != nil {
		return err
	}

	return o.completeLease()
}

// completeShard sets the shard. An instance is one shard, the catch-all, a range, or unsharded.
func (o *Options) completeShard() (err error) {
	switch {
	case o.ShardName != "" && o.ShardCatchAll:
		return errors.Errorf("--shard-name is %q and --shard-catch-all is set: an instance serves one shard or the Workspaces without one, use one of the two", o.ShardName)
	case o.ShardRange != "" && (o.ShardName != "" || o.ShardCatchAll || o.AssignShards):
		return errors.Errorf("--shard-range is %q: it cannot be used together with --shard-name, --shard-catch-all or --assign-shards", o.ShardRange)
	case o.AssignShards && o.ShardName == "" && !o.ShardCatchAll:
		return errors.New("--assign-shards is set, and neither --shard-name nor --shard-catch-all: an instance without a shard serves every Workspace, and would keep all shards waiting")
	case o.ShardCatchAll:
		o.Shard = shard.CatchAll()
	case o.ShardRange != "":
		o.Shard, err = shard.ParseRange(o.ShardRange)
		err = errors.Wrap(err, "--shard-range")
	default:
		o.Shard, err = shard.Parse(o.ShardName)
		err = errors.Wrap(err, "--shard-name")
	}

	return err
}

// needsLease says that this instance must not run without a Lease: others could not find out whether its
// Workspaces are served.
func (o *Options) needsLease() bool { return o.Shard.Sharded() || ptr.Deref(o.LeaderElection, false) }

func (o *Options) completeLease() error {
	if err := o.Lease.Validate(); err != nil {
		return err
	}

	if o.LeaseNamespace == "" {
		if b, err := os.ReadFile(namespaceFile); err == nil {
			o.LeaseNamespace = strings.TrimSpace(string(b))
		}
	}

	// An unsharded instance takes part in a leader election, too, if it can, unless the flag disables it.
	needed := o.needsLease()
	if needed && o.LeaseNamespace == "" {
		return errors.New("--lease-namespace (POD_NAMESPACE) is not set: outside of a cluster it must name the namespace of the Lease that --leader-election, --shard-name, --shard-catch-all and --shard-range need")
	}

	// Older versions of such an instance never ended an apply when the API server was unavailable
	// for some minutes. Operators who want another instance to take over sooner set the flag.
	if !needed && o.Lease.Duration == defaultLeaseDuration {
		o.Lease.ApplyDuration = max(o.Lease.ApplyDuration, unattendedApplyDuration)
	}

	o.HoldsLease = needed || (ptr.Deref(o.LeaderElection, true) && o.LeaseNamespace != "")

	return nil
}
