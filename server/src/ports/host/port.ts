/** The machine this process runs on. */
export type Host = {
  /** Counters and levels as they are now. Rejects when the file system cannot be asked. */
  read(): Promise<HostReading>
}

export type HostReading = {
  cpuCount: number
  /** Time of all CPUs together since the machine started; the rate is the difference of two readings. */
  cpuBusyMs: number
  cpuTotalMs: number
  memory: Space
  /** The file system of the data folder. */
  disk: Space
  /** Over 1, 5 and 15 minutes. */
  load: [number, number, number]
}
/** `usedBytes`: what nobody else can have; what is reclaimed when it is wanted counts as free. */
export type Space = { usedBytes: number; totalBytes: number }
