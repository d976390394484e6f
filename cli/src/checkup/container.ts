/** True in a container of the platform's image. Each has one program, and none has npm or `./roost up`. */
export function isInContainer(env: NodeJS.ProcessEnv): boolean {
  return env.ROOST_INSTALL_SOURCE === 'image' || env.ROOST_INSTALL_SOURCE === 'chart'
}

/** Where the reason of a failure is. */
export function seeLog(): string {
  return isInContainer(process.env) ? 'see the log of the container' : 'see logs/api.log in the data folder'
}
