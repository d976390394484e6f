import { lookup as systemLookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { variables } from '../config-variables.ts'
import { gitApiAddress } from '../foundation/settings/index.ts'
import { createLocate, type Locate, type Lookup } from '../kit/addresses.ts'
import { type Clock, systemClock } from '../kit/clock.ts'
import { createMeters, type Meters } from '../kit/platform-meters.ts'
import { openAgentImages } from '../ports/agent-images/open.ts'
import { type AgentImages, agentRuntimes } from '../ports/agent-images/port.ts'
import type { BackupProgram } from '../ports/backup-program/port.ts'
import type { ChatPlatform } from '../ports/chat-platform/port.ts'
import { createSlack } from '../ports/chat-platform/slack.ts'
import { connect } from '../ports/containers/docker/connect.ts'
import { openContainers } from '../ports/containers/open.ts'
import type { Containers } from '../ports/containers/port.ts'
import { timedContainers } from '../ports/containers/timed.ts'
import { openDatabase } from '../ports/database/open.ts'
import type { Db } from '../ports/database/port.ts'
import { openEphemeral } from '../ports/ephemeral/open.ts'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import { createGit } from '../ports/git/binary.ts'
import type { Git } from '../ports/git/port.ts'
import { createGitHub } from '../ports/git-host/github.ts'
import type { GitHost } from '../ports/git-host/port.ts'
import type { Host } from '../ports/host/port.ts'
import { systemHost } from '../ports/host/system.ts'
import type { Log } from '../ports/log.ts'
import { openMailer } from '../ports/mail/open.ts'
import type { Mailer } from '../ports/mail/port.ts'
import { createFacilitator } from '../ports/payments/facilitator.ts'
import type { Payments } from '../ports/payments/port.ts'
import type { PushService } from '../ports/push-service/port.ts'
import { createWebPush } from '../ports/push-service/web-push.ts'
import type { Telephony } from '../ports/telephony/port.ts'
import { createTwilio } from '../ports/telephony/twilio.ts'
import { createGeminiVoice } from '../ports/voice/gemini/gemini.ts'
import type { VoicePort } from '../ports/voice/port.ts'
import { openGitStore } from '../ports/workspace-history/git-store.ts'
import { openLazily } from '../ports/workspace-history/open.ts'
import type { WorkspaceHistory } from '../ports/workspace-history/port.ts'
import { openBackupProgram } from './backup-program.ts'
import { installId } from './first-start.ts'
import { kubernetesOptions } from './kubernetes-options.ts'
import { sandboxImage } from './sandbox-image.ts'
import { openVolumeJobs } from './volume-jobs.ts'

/** The open adapters to the outside world. The caller closes them in reverse order. */
export type Adapters = {
  clock: Clock
  log: Log
  meters: Meters
  db: Db
  ephemeral: Ephemeral
  containers: Containers
  images: AgentImages
  git: Git
  history: WorkspaceHistory
  gitHost: GitHost
  chatPlatform: ChatPlatform
  host: Host
  backupProgram: BackupProgram
  outward: Outward
  pushService: PushService
  voice: VoicePort
  telephony: Telephony
  /** Null: no mail is sent. */
  mail: Mailer | null
  /** Null: no payments are collected. */
  payments: Payments | null
}

/** The network of the agents, which isolates them from each other; further installations get a suffix. */
const agentsNetwork = 'roost-agents'

export async function openAdapters(config: Config, log: Log, env: NodeJS.ProcessEnv): Promise<Adapters> {
  const clock = systemClock
  const meters = createMeters()
  const { containersUrl, agentImage, dataDir, x402FacilitatorUrl: facilitatorUrl } = config
  const images = await openAgentImages(containersUrl, { connect, agentImage, dataDir, env })
  const install = await installId(dataDir, config.installIdFile)
  const engine = await openContainers(containersUrl, {
    install,
    network: agentsNetwork,
    fakeImages: agentRuntimes.map((runtime) => images.tagFor(runtime).image),
    sandbox: { stateDir: join(dataDir, 'sandbox'), resolveImage: sandboxImage },
    kubernetes: kubernetesOptions(config, env),
    clock,
  })
  const db = await openDatabase(config.databaseUrl.reveal(), log, meters)
  const ephemeral = await openEphemeral(config.redisUrl, { clock, log })
  const git = createGit({
    baseUrl: config.gitBaseUrl,
    mayBeInner: mayGitBeInner(config),
    folder: join(dataDir, 'git'),
    path: env.PATH ?? '',
  })
  const outward = createOutward(config)
  const mail = openMailer(config.mailUrl, { platformHost: new URL(config.baseUrl).hostname, clock, log })
  return {
    clock,
    log,
    meters,
    db,
    ephemeral,
    containers: timedContainers(engine, meters.engineSeconds),
    images,
    git,
    history: openLazily(() => openGitStore({ folder: join(dataDir, 'history'), path: env.PATH ?? '' })),
    gitHost: createGitHub({ apiUrl: gitApiAddress(config.gitBaseUrl), fetch }),
    chatPlatform: createSlack({ apiUrl: config.slackApiUrl, fetch }),
    host: systemHost(dataDir),
    backupProgram: openBackupProgram({
      ...{ containersUrl, dataDir, env },
      jobs: openVolumeJobs(containersUrl, { install, dataDir, connect, env }),
    }),
    outward,
    pushService: createWebPush({ locate: outward.agents, baseUrl: config.baseUrl, clock }),
    telephony: createTwilio({ baseUrl: config.twilioBaseUrl, fetch }),
    voice: createGeminiVoice({ baseUrl: config.geminiBaseUrl, model: config.voiceModel }),
    mail,
    payments: facilitatorUrl === null ? null : createFacilitator({ url: facilitatorUrl, fetch }),
  }
}

/** Resolvers for outbound connections. Each connection resolves its host once. */
type Outward = {
  /** For the git host, which may have a private address if the configuration names it. */
  gitHost: Locate
  /** For agents and push services: private addresses only if the configuration names them, never this machine. */
  agents: Locate
}

const lookup: Lookup = async (host) => (await systemLookup(host, { all: true })).map(({ address }) => address)

function createOutward(
  config: Pick<Config, 'gitBaseUrl' | 'egressInner' | 'kubernetesClosedNetworks'>,
): Outward {
  return {
    gitHost: createLocate({ lookup, mayBeInner: mayGitBeInner(config) }),
    agents: createLocate({
      lookup,
      named: new Map(config.egressInner.map(({ at, address }) => [at, address])),
      isOwn: isOfThisMachine,
      closed: config.kubernetesClosedNetworks,
    }),
  }
}

/** True if the configuration names a git host, which may then have a private address. */
function mayGitBeInner({ gitBaseUrl }: Pick<Config, 'gitBaseUrl'>): boolean {
  return gitBaseUrl !== variables.gitBaseUrl.default
}

/** Not cached, because addresses change. */
function isOfThisMachine(address: string): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some((each) => each.address === address))
}
