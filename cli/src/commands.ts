import { agents } from './agents.ts'
import { attempts } from './attempts.ts'
import { backup, restore } from './backup.ts'
import { chat } from './chat.ts'
import type { Command } from './command.ts'
import { createCompletion } from './completion.ts'
import { copy } from './copy.ts'
import { database } from './database.ts'
import { doctor } from './doctor.ts'
import { events } from './events.ts'
import { fleet } from './fleet.ts'
import { version } from './help.ts'
import { history } from './history.ts'
import { images } from './images.ts'
import { keys } from './keys.ts'
import { login, logout, servers } from './login.ts'
import { logs } from './logs.ts'
import { loops } from './loops.ts'
import { mcpConfig } from './mcp-config.ts'
import { model } from './model.ts'
import { notifications } from './notifications.ts'
import { openCommand } from './open.ts'
import { prices } from './prices.ts'
import { regainAdmin } from './regain-admin.ts'
import { release } from './release.ts'
import { replicas } from './replicas.ts'
import { reports } from './reports.ts'
import { rollback } from './rollback.ts'
import { rotateKey } from './rotate-key.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { shares } from './shares.ts'
import { skills } from './skills.ts'
import { ssh } from './ssh.ts'
import { task } from './task.ts'
import { test } from './test.ts'
import { undo } from './undo.ts'
import { up } from './up.ts'
import { upgrade } from './upgrade.ts'

/** In the order of `roost help`. */
export const commands: Command[] = [
  up,
  login,
  logout,
  servers,
  agents,
  fleet,
  replicas,
  chat,
  task,
  runs,
  undo,
  history,
  openCommand,
  copy,
  ssh,
  schedules,
  attempts,
  loops,
  skills,
  notifications,
  reports,
  shares,
  logs,
  events,
  keys,
  prices,
  mcpConfig,
  createCompletion(() => commands),
  doctor,
  images,
  backup,
  restore,
  upgrade,
  rollback,
  database,
  rotateKey,
  regainAdmin,
  test,
  release,
  model,
  version,
]
