/* A thread that attaches to the JVM, calls Java once and detaches, as the threads of native libraries do. */

#include <errno.h>
#include <jni.h>
#include <pthread.h>
#include <stdint.h>

static JavaVM *jvm;
static jmethodID handle;

jint JNI_OnLoad(JavaVM *loaded_by, void *reserved) {
    (void)reserved;
    JNIEnv *env;
    jvm = loaded_by;
    if ((*jvm)->GetEnv(jvm, (void **)&env, JNI_VERSION_1_8) != JNI_OK) {
        return JNI_ERR;
    }
    jclass event = (*env)->FindClass(env, "terrace/applications/Event");
    if (event == NULL) {
        return JNI_ERR;
    }
    handle = (*env)->GetMethodID(env, event, "handle", "()V");
    return handle == NULL ? JNI_ERR : JNI_VERSION_1_8;
}

/* The error number is the thread's result. */
static void *routine(void *event) {
    JNIEnv *env;
    if ((*jvm)->AttachCurrentThread(jvm, (void **)&env, NULL) != JNI_OK) {
        return (void *)(intptr_t)EAGAIN;
    }
    (*env)->CallVoidMethod(env, (jobject)event, handle);
    intptr_t error = 0;
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionDescribe(env);
        error = EINVAL;
    }
    return (*jvm)->DetachCurrentThread(jvm) == JNI_OK ? (void *)error : (void *)(intptr_t)EAGAIN;
}

JNIEXPORT jint JNICALL Java_terrace_applications_CallbacksJni_callBack(JNIEnv *env, jclass own, jobject event) {
    (void)own;
    /* A local reference is this thread's alone. */
    jobject shared = (*env)->NewGlobalRef(env, event);
    if (shared == NULL) {
        return ENOMEM;
    }
    pthread_t thread;
    void *result = NULL;
    int error = pthread_create(&thread, NULL, routine, shared);
    if (error == 0) {
        error = pthread_join(thread, &result);
    }
    (*env)->DeleteGlobalRef(env, shared);
    return error != 0 ? error : (jint)(intptr_t)result;
}
